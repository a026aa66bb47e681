// Parses JSON written by people: a repeated key is an error. (nlohmann's parser keeps the last
// value.)
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skel::detail {

class bad_json : public nlohmann::json::exception {
 public:
  explicit bad_json(std::string const& text) : exception(0, text.c_str()) {}
};

/// Throws nlohmann::json::exception unless the text is JSON without repeated keys, nested at most 100
/// deep: nlohmann's dump() recurses.
inline nlohmann::json parse_json(std::string_view text) {
  using nlohmann::json;
  std::vector<std::set<std::string>> objects;  // the keys of the open objects
  return json::parse(text.begin(), text.end(), [&](int depth, json::parse_event_t event, json& value) {
    if (depth > 100) throw bad_json("nested more than 100 deep");
    if (event == json::parse_event_t::object_start) objects.emplace_back();
    if (event == json::parse_event_t::object_end) objects.pop_back();
    if (event == json::parse_event_t::key) {
      auto const& key = value.get_ref<std::string const&>();
      if (!objects.back().insert(key).second) throw bad_json(key + " is there twice");
    }
    return true;
  });
}

}  // namespace skel::detail
