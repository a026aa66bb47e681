#include "tools/simulate/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string_view>

#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/model/sample.hpp"
#include "skel/observe/samples.hpp"

namespace skel::simulate {

namespace {

constexpr double most_seconds = 1e9;

// Sum of busy seconds over sum of tasks, for all runs of a samples file.
double mean_of_samples(std::string const& path) {
  double tasks = 0;
  double busy = 0;
  for (auto const& s : model::read_samples(path)) {
    if (s.phase != "run" || !s.variables.contains("tasks") || !s.measured.contains("busy_seconds")) continue;
    tasks += s.variables.at("tasks");
    busy += s.measured.at("busy_seconds");
  }
  if (tasks == 0 || busy == 0)
    throw usage_error(detail::one_line(path + ": no sample with tasks and busy seconds"));
  return busy / tasks;
}

std::vector<double> from_file(std::string const& path, std::optional<std::uint64_t> tasks) {
  std::ifstream file(path);
  std::string line;
  if (!file || !detail::read_line(file, line))
    throw usage_error(detail::one_line(path + ": cannot be read or is empty"));
  if (line.starts_with(observe::samples_header)) {
    if (!tasks)
      throw usage_error(detail::one_line(path + ": contains samples of whole runs; missing --tasks"));
    std::vector<double> costs(*tasks);
    std::fill(costs.begin(), costs.end(), mean_of_samples(path));
    return costs;
  }
  std::vector<double> read;
  std::size_t at = 1;
  do {
    if (line.empty()) continue;
    auto const x = detail::to_number<double>(line);
    // Accepts a header line, e.g. "seconds".
    if (!x && at == 1 && line.find_first_of("0123456789") == std::string::npos) continue;
    if (!x || !(*x >= 0 && *x <= most_seconds))
      throw usage_error(detail::one_line(fmt::format(
          "{}:{}: expected a number of seconds from 0 to 1e9, found \"{}\"", path, at, line.substr(0, 40))));
    read.push_back(*x);
  } while (++at, detail::read_line(file, line));
  if (read.empty()) throw usage_error(detail::one_line(path + ": contains no costs"));
  if (!tasks) return read;
  std::vector<double> costs(*tasks);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = read[i % read.size()];
  return costs;
}

struct distribution {
  std::string_view name;
  double a = 0, b = 0;
};

distribution parse(std::string const& spec) {
  auto const bad = [&](char const* expected) {
    throw usage_error(
        detail::one_line(fmt::format("costs \"{}\": expected {}", spec.substr(0, 80), expected)));
  };
  constexpr char const* known =
      "constant:C, uniform:LOW,HIGH, exponential:MEAN, pareto:LEAST,SHAPE, or a file (a / or .csv in its "
      "name)";
  auto const colon = spec.find(':');
  distribution d{std::string_view(spec).substr(0, colon)};
  bool const pair = d.name == "uniform" || d.name == "pareto";
  if (colon == std::string::npos || (!pair && d.name != "constant" && d.name != "exponential")) bad(known);
  auto const numbers = std::string_view(spec).substr(colon + 1);
  auto const comma = numbers.find(',');
  if ((comma != std::string_view::npos) != pair) bad(known);
  d.a = detail::parse_duration(numbers.substr(0, comma)).count();
  if (d.name == "uniform") d.b = detail::parse_duration(numbers.substr(comma + 1)).count();
  if (d.name == "pareto") d.b = detail::to_number<double>(numbers.substr(comma + 1)).value_or(0);
  if (d.name == "uniform" && d.b < d.a) bad("uniform:LOW,HIGH with LOW not above HIGH");
  if (d.name == "pareto" && !(d.b > 1 && d.b <= 1000))
    bad("pareto:LEAST,SHAPE with SHAPE above 1 and at most 1000");
  if (d.a > most_seconds || d.b > most_seconds) bad("at most 1e9 seconds");
  return d;
}

}  // namespace

std::vector<double> task_costs(std::string const& spec, std::optional<std::uint64_t> tasks,
                               std::uint64_t seed) {
  if (spec.find('/') != std::string::npos || spec.ends_with(".csv")) return from_file(spec, tasks);
  auto const d = parse(spec);
  if (!tasks) throw usage_error("--costs: missing --tasks, required with a distribution");
  std::vector<double> costs(*tasks);
  std::mt19937_64 dice(seed);
  for (double& c : costs) {
    // The standard library's distributions are not used: their numbers differ between
    // implementations.
    double const u = static_cast<double>(dice() >> 11) * 0x1p-53;  // [0, 1)
    if (d.name == "constant") c = d.a;
    if (d.name == "uniform") c = d.a + u * (d.b - d.a);
    if (d.name == "exponential") c = -d.a * std::log1p(-u);
    if (d.name == "pareto") c = d.a * std::pow(1 - u, -1 / d.b);
  }
  return costs;
}

}  // namespace skel::simulate
