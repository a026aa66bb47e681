#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "format.hpp"
#include "skel/error.hpp"
#include "text.hpp"

namespace skel::detail {

namespace {

using nlohmann::json;

class bad_json : public json::exception {
 public:
  explicit bad_json(std::string const& text) : exception(0, text.c_str()) {}
};

json parse_strictly(std::string_view text) {
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

}  // namespace

json json_reader::parse(std::string_view text, std::string const& file) {
  try {
    return parse_strictly(text);
  } catch (json::exception const& e) {
    std::string place = file, what = e.what();
    if (auto const* const at = dynamic_cast<json::parse_error const*>(&e)) {
      auto const before = text.substr(0, at->byte);
      append_format(place, ":{}", 1 + std::count(before.begin(), before.end(), '\n'));
    }
    // nlohmann's own message has its number and the position before.
    for (auto const* const start : {"syntax error", "number overflow"})
      if (auto const found = what.find(start); found != std::string::npos) what.erase(0, found);
    throw usage_error(one_line(detail::format("{}: not JSON: {}", place, what)));
  }
}

void json_reader::fail(std::string const& what) const {
  throw usage_error(one_line(detail::format("{}: {}{}{}", file_, key_, key_.empty() ? "" : ": ", what)));
}

void json_reader::expect(bool condition, std::string_view expected) const {
  if (condition) return;
  auto found = value_->dump(-1, ' ', false, json::error_handler_t::replace);
  if (constexpr std::size_t most = 60; found.size() > most)
    found = value_->is_array()    ? detail::format("a list of {}", value_->size())
            : value_->is_object() ? "an object"
                                  : found.substr(0, most);
  fail(detail::format("expected {}, found {}", expected, found));
}

json_reader json_reader::operator[](char const* name) const {
  expect(value_->is_object(), "an object");
  if (!has(name)) fail(detail::format("missing \"{}\"", name));
  return {(*value_)[name], file_, key_.empty() ? name : key_ + "." + name};
}

std::vector<json_reader> json_reader::items(std::string_view expected, std::size_t least,
                                            std::size_t most) const {
  expect(value_->is_array() && value_->size() >= least && value_->size() <= most, expected);
  std::vector<json_reader> all;
  for (std::size_t i = 0; i < value_->size(); ++i)
    all.emplace_back((*value_)[i], file_, detail::format("{}[{}]", key_, i));
  return all;
}

std::vector<std::pair<std::string, json_reader>> json_reader::members() const {
  expect(value_->is_object(), "an object");
  std::vector<std::pair<std::string, json_reader>> all;
  for (auto const& [name, value] : value_->items())
    all.emplace_back(name, json_reader(value, file_, key_ + "." + name));
  return all;
}

void json_reader::only_keys(std::span<std::string_view const> known) const {
  expect(value_->is_object(), "an object");
  for (auto const& [key, unused] : value_->items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail(detail::format("unknown key \"{}\"; known: {}", key, join(known, ", ")));
}

double json_reader::number(double least, double most, std::string_view expected) const {
  double const x = value_->is_number() ? value_->get<double>() : NAN;
  if (!(x >= least && x <= most))
    expect(false,
           expected.empty() ? detail::format("a number from {} to {}", least, most) : std::string(expected));
  return x;
}

double json_reader::whole_number(double least, double most, std::string_view expected) const {
  auto const wanted =
      expected.empty() ? detail::format("a whole number from {} to {}", least, most) : std::string(expected);
  auto const x = number(least, most, wanted);
  expect(x == std::floor(x), wanted);
  return x;
}

std::vector<double> json_reader::numbers(double least, double most, std::string_view expected) const {
  expect(value_->is_array(), "a list");
  std::vector<double> all;
  for (auto const& x : *value_)
    all.push_back(
        json_reader(x, file_, detail::format("{}[{}]", key_, all.size())).number(least, most, expected));
  return all;
}

std::string json_reader::text() const {
  expect(value_->is_string(), "a text");
  return value_->get<std::string>();
}

bool json_reader::flag() const {
  expect(value_->is_boolean(), "true or false");
  return value_->get<bool>();
}

double json_reader::number_or(char const* name, double least, double most, double otherwise) const {
  return has(name) ? (*this)[name].number(least, most) : otherwise;
}

std::string json_reader::text_or(char const* name, std::string otherwise) const {
  return has(name) ? (*this)[name].text() : std::move(otherwise);
}

}  // namespace skel::detail
