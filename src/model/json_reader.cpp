#include "json_reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "base/one_line.hpp"
#include "base/parse_json.hpp"
#include "skel/error.hpp"
#include "text.hpp"

namespace skel::model {

nlohmann::json json_reader::parse(std::string_view text, std::string const& file) {
  try {
    return detail::parse_json(text);
  } catch (nlohmann::json::parse_error const& e) {
    auto const before = text.substr(0, e.byte);
    auto const line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    fail_at(file, line, detail::format("invalid JSON: {}", e.what()));
  } catch (nlohmann::json::exception const& e) {  // a number beyond double, a duplicate key
    fail_at(file, 1, detail::format("invalid JSON: {}", e.what()));
  }
}

void json_reader::fail(std::string const& what) const {
  throw usage_error(
      detail::one_line(detail::format("{}: {}{}{}", file_, key_, key_.empty() ? "" : ": ", what)));
}

json_reader json_reader::operator[](char const* name) const {
  if (!value_.is_object()) fail("expected an object");
  if (!value_.contains(name)) fail(detail::format("missing \"{}\"", name));
  return {value_[name], file_, key_.empty() ? name : key_ + "." + name};
}

std::vector<json_reader> json_reader::items() const {
  if (!value_.is_array()) fail("expected a list");
  std::vector<json_reader> all;
  for (std::size_t i = 0; i < value_.size(); ++i)
    all.emplace_back(value_[i], file_, detail::format("{}[{}]", key_, i));
  return all;
}

std::vector<std::pair<std::string, json_reader>> json_reader::members() const {
  if (!value_.is_object()) fail("expected an object");
  std::vector<std::pair<std::string, json_reader>> all;
  for (auto const& [name, value] : value_.items())
    all.emplace_back(name, json_reader(value, file_, key_ + "." + name));
  return all;
}

double json_reader::number(double least, double most) const {
  double const x = value_.is_number() ? value_.get<double>() : NAN;
  if (!(x >= least && x <= most)) fail(detail::format("expected a number from {} to {}", least, most));
  return x;
}

std::vector<double> json_reader::numbers(double least, double most) const {
  std::vector<double> all;
  for (auto const& item : items()) all.push_back(item.number(least, most));
  return all;
}

std::string json_reader::text() const {
  if (!value_.is_string()) fail("expected a text");
  return value_.get<std::string>();
}

bool json_reader::flag() const {
  if (!value_.is_boolean()) fail("expected true or false");
  return value_.get<bool>();
}

double json_reader::number_or(char const* name, double least, double most, double otherwise) const {
  return has(name) ? (*this)[name].number(least, most) : otherwise;
}

std::string json_reader::text_or(char const* name, std::string otherwise) const {
  return has(name) ? (*this)[name].text() : std::move(otherwise);
}

}  // namespace skel::model
