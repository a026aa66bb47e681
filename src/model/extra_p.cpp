// Reads and writes Extra-P's JSON Lines.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/json.hpp"
#include "skel/error.hpp"
#include "skel/model/sample.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

using json = nlohmann::ordered_json;
using detail::json_reader;

// Extra-P's GUI names a missing metric <default>; it stands for the time.
std::string quantity_of(std::string const& metric) {
  return metric.empty() || metric == "time" || metric == "<default>" ? "seconds" : metric;
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

nlohmann::json parse(std::string_view text, std::string const& file, std::size_t line) {
  try {
    return json_reader::parse(text, file);
  } catch (usage_error const&) {
    fail_at(file, line,
            detail::format("found {}, expected a JSON object {{\"params\": {{…}}, \"value\": …}}",
                           in_quotes(text)));
  }
}

void read_line(std::string_view text, std::string const& file, std::size_t line, std::vector<sample>& all) {
  constexpr std::string_view expected = "a number from 0 to 1e30";
  constexpr double most = 1e30;
  auto const object = parse(text, file, line);
  json_reader const in(object, detail::format("{}:{}", file, line));
  if (!in.has("params")) in.fail("missing params, expected an object of numbers");
  if (!in.has("value")) in.fail("missing value, expected a number or a list of numbers");
  sample s;
  s.file = file;
  s.line = line;
  for (auto const& [key, value] : in["params"].members()) s.variables[key] = value.number(0, most, expected);
  read_path(in.text_or("callpath"), s);
  auto const quantity = quantity_of(in.text_or("metric"));
  auto const value = in["value"];
  for (double const x : value.value().is_array() ? value.numbers(0, most, expected)
                                                 : std::vector{value.number(0, most, expected)}) {
    s.measured = {{quantity, x}};
    all.push_back(s);
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
