// Reads and writes Extra-P's JSON Lines.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "skel/model/sample.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

using json = nlohmann::ordered_json;

// Extra-P's GUI names a missing metric <default>; it stands for the time.
std::string quantity_of(std::string const& metric) {
  return metric.empty() || metric == "time" || metric == "<default>" ? "seconds" : metric;
}

double number_of(json const& value, char const* what, std::string const& file, std::size_t line) {
  double const x = value.is_number() ? value.get<double>() : NAN;
  if (!(std::isfinite(x) && x >= 0 && x <= 1e30))
    fail_at(file, line,
            detail::format("{} is {}, expected a number from 0 to 1e30", what,
                           in_quotes(value.dump(-1, ' ', false, json::error_handler_t::replace))));
  return x;
}

std::string text_of(json const& object, char const* key, std::string const& file, std::size_t line) {
  if (!object.contains(key)) return {};
  if (!object[key].is_string()) fail_at(file, line, detail::format("{} is not a text", key));
  return object[key];
}

constexpr std::string_view arrow = "->";

// Call paths written by skel have four parts. For others, everything before the last arrow is the
// program.
void read_path(std::string_view path, sample& s) {
  std::vector<std::string> parts;
  for (auto at = path.find(arrow); at != std::string_view::npos; at = path.find(arrow)) {
    parts.emplace_back(path.substr(0, at));
    path.remove_prefix(at + arrow.size());
  }
  s.phase = path.empty() ? "run" : path;
  if (parts.size() == 3) {
    s.skeleton = parts[0];
    s.schedule = parts[1];
    s.results = parts[2];
    return;
  }
  for (auto const& part : parts) s.skeleton += (s.skeleton.empty() ? "" : std::string(arrow)) + part;
}

std::string path_of(sample const& s) {
  std::string text;
  if (!s.skeleton.empty())
    for (auto const* part : {&s.skeleton, &s.schedule, &s.results}) text += *part + std::string(arrow);
  return text + s.phase;
}

void read_line(std::string_view text, std::string const& file, std::size_t line, std::vector<sample>& all) {
  // Deeply nested values are safe: nlohmann's parser and destructor are iterative.
  auto const object = json::parse(text, nullptr, false);
  if (object.is_discarded() || !object.is_object())
    fail_at(file, line,
            detail::format("found {}, expected a JSON object {{\"params\": {{…}}, \"value\": …}}",
                           in_quotes(text)));
  if (!object.contains("params") || !object["params"].is_object())
    fail_at(file, line, "missing params, expected an object of numbers");
  if (!object.contains("value")) fail_at(file, line, "missing value, expected a number or a list of numbers");
  sample s;
  s.file = file;
  s.line = line;
  for (auto const& [key, value] : object["params"].items())
    s.variables[key] = number_of(value, key.c_str(), file, line);
  read_path(text_of(object, "callpath", file, line), s);
  auto const quantity = quantity_of(text_of(object, "metric", file, line));
  auto const& value = object["value"];
  auto const add = [&](json const& x) {
    s.measured = {{quantity, number_of(x, "value", file, line)}};
    all.push_back(s);
  };
  if (!value.is_array()) {
    add(value);
  } else {
    for (auto const& x : value) add(x);
  }
}

// The variables that every sample has and that differ between samples.
std::vector<std::string> common_variables(std::span<sample const> samples) {
  std::vector<std::string> names;
  for (auto const& [name, value] : samples.front().variables) {
    auto const has = [&](sample const& s) { return s.variables.contains(name); };
    auto const same = [&](sample const& s) { return s.variables.at(name) == value; };
    if (std::ranges::all_of(samples, has) && !std::ranges::all_of(samples, same)) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<sample> parse_extra_p(std::string_view lines, std::string const& file) {
  std::vector<sample> all;
  for (std::size_t number = 1; !lines.empty(); ++number) {
    auto const line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    read_line(line, file, number, all);
  }
  if (all.empty()) fail_at(file, 1, "no measurements, expected a JSON object per line");
  return all;
}

std::string to_extra_p(std::span<sample const> samples) {
  if (samples.empty()) return {};
  auto const names = common_variables(samples);
  if (names.empty())
    throw usage_error(
        "no variable is present in all samples and differs between them, as Extra-P requires (--only "
        "phase=divide, for example, selects some of them)");
  std::string text;
  for (auto const& s : samples) {
    json object;
    for (auto const& name : names) object["params"][name] = s.variables.at(name);
    object["callpath"] = path_of(s);
    for (auto const& [quantity, value] : s.measured) {
      object["metric"] = quantity == "seconds" ? "time" : quantity;
      object["value"] = value;
      text += object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    }
  }
  return text;
}

}  // namespace skel::model
