// Parses JSON written by people: a repeated key is an error. (nlohmann's parser keeps the last
// value.)
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skel::detail {

class repeated_key : public nlohmann::json::exception {
 public:
  explicit repeated_key(std::string const& key) : exception(0, (key + " is there twice").c_str()) {}
};

/// Throws nlohmann::json::exception unless the text is JSON without repeated keys.
inline nlohmann::json parse_json(std::string_view text) {
  using nlohmann::json;
  std::vector<std::set<std::string>> objects;  // the keys of the open objects
  return json::parse(text.begin(), text.end(), [&](int /*depth*/, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) objects.emplace_back();
    if (event == json::parse_event_t::object_end) objects.pop_back();
    if (event == json::parse_event_t::key) {
      auto const& key = value.get_ref<std::string const&>();
      if (!objects.back().insert(key).second) throw repeated_key(key);
    }
    return true;
  });
}

}  // namespace skel::detail
