#include "tools/model/task_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "skel/error.hpp"

namespace skel::model {

namespace {

constexpr double body = 0.9;            // the share of tasks below the threshold of the tail
constexpr std::size_t least_tail = 20;  // fewer excesses do not show a shape

std::size_t first_of_tail(std::size_t n) { return static_cast<std::size_t>(body * static_cast<double>(n)); }

// The excesses over the last cost of the body.
std::vector<double> excesses_of(std::vector<double> const& sorted) {
  auto const first = first_of_tail(sorted.size());
  std::vector<double> over(sorted.begin() + static_cast<std::ptrdiff_t>(first), sorted.end());
  for (double& x : over) x -= sorted[first - 1];
  return over;
}

// The greatest distance between the distribution of the excesses and the fitted one
// (Kolmogorov-Smirnov).
double distance(std::vector<double> const& excesses, pareto_tail const& t) {
  double worst = 0;
  auto const m = static_cast<double>(excesses.size());
  for (std::size_t i = 0; i < excesses.size(); ++i) {
    double const x = excesses[i] / t.scale;
    double const inside = std::abs(t.shape) < 1e-9 ? std::exp(-x)
                          : 1 + t.shape * x <= 0   ? 0
                                                   : std::pow(1 + t.shape * x, -1 / t.shape);
    double const p = 1 - inside;
    worst = std::max({worst, p - static_cast<double>(i) / m, static_cast<double>(i + 1) / m - p});
  }
  return worst;
}

}  // namespace

double uniform(std::mt19937_64& dice) { return static_cast<double>(dice() >> 11) * 0x1p-53; }

double pareto_tail::quantile(double p) const {
  if (std::abs(shape) < 1e-9) return -scale * std::log1p(-p);
  return scale * std::expm1(-shape * std::log1p(-p)) / shape;
}

std::optional<pareto_tail> pareto_tail::fit(std::span<double const> excesses) {
  constexpr double offset = 0.35;  // of the plotting positions [Hosking87, §3]
  auto const m = static_cast<double>(excesses.size());
  double a0 = 0, a1 = 0;
  for (std::size_t i = 0; i < excesses.size(); ++i) {
    double const p = (static_cast<double>(i) + 1 - offset) / m;
    a0 += excesses[i] / m;
    a1 += (1 - p) * excesses[i] / m;
  }
  if (!(a0 > 0) || !(a0 - 2 * a1 > 0) || !(a1 > 0)) return std::nullopt;
  // The moments exist for shapes below 1, and are useful in this range.
  double const shape = std::clamp(2 - a0 / (a0 - 2 * a1), -0.5, 0.8);
  return pareto_tail{a0 * (1 - shape), shape};
}

observed_costs observed_costs::read_trace(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw usage_error(path + ": cannot be read, expected a trace (--trace of a run)");
  auto const trace = nlohmann::json::parse(file, nullptr, false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("traceEvents"))
    throw usage_error(path + ": found no traceEvents, expected a trace (--trace of a run)");
  observed_costs found;
  try {
    for (auto const& e : trace.at("traceEvents"))
      if (e.value("name", "") == "compute" && e.contains("dur"))
        found.add(e.at("dur").get<double>() * 1e-6, e.at("args").value("tasks", std::uint64_t{0}));
  } catch (nlohmann::json::exception const& e) {
    throw usage_error(fmt::format("{}: expected a trace (--trace of a run), found: {}", path, e.what()));
  }
  found.finish();
  if (found.spans_.size() < 2)
    throw usage_error(
        fmt::format("{}: found {} compute spans with tasks, expected at least 2", path, found.spans_.size()));
  return found;
}

void observed_costs::add(double seconds, std::uint64_t tasks) {
  if (tasks == 0 || !(seconds >= 0)) return;
  spans_.push_back({seconds / static_cast<double>(tasks), tasks});
}

void observed_costs::finish() {
  std::ranges::sort(spans_, {}, &span_of_tasks::seconds);
  bool const single = std::ranges::all_of(spans_, [](auto const& s) { return s.tasks == 1; });
  auto const costs = seconds();
  if (!single || costs.size() - first_of_tail(costs.size()) < least_tail) return;
  auto const over = excesses_of(costs);
  // 5 % of fitted distributions are further away.
  constexpr double critical = 0.9;
  auto const t = pareto_tail::fit(over);
  tail_ = t && distance(over, *t) < critical / std::sqrt(static_cast<double>(over.size()));
}

std::vector<double> observed_costs::seconds() const {
  std::vector<double> all;
  all.reserve(spans_.size());
  for (auto const& s : spans_) all.push_back(s.seconds);
  return all;
}

double observed_costs::mean() const {
  double seconds = 0, tasks = 0;
  for (auto const& s : spans_) {
    seconds += s.seconds * static_cast<double>(s.tasks);
    tasks += static_cast<double>(s.tasks);
  }
  return seconds / tasks;
}

std::vector<double> observed_costs::draw(std::size_t n, std::uint64_t seed,
                                         std::optional<double> mean_wanted) const {
  std::mt19937_64 dice(seed);
  auto const place = [&](std::size_t size) {
    return std::min(static_cast<std::size_t>(uniform(dice) * static_cast<double>(size)), size - 1);
  };
  observed_costs population;
  for (std::size_t i = 0; i < spans_.size(); ++i) population.spans_.push_back(spans_[place(spans_.size())]);
  std::ranges::sort(population.spans_, {}, &span_of_tasks::seconds);
  auto const& spans = population.spans_;
  auto const first = first_of_tail(spans.size());
  auto const tail = tail_ ? pareto_tail::fit(excesses_of(population.seconds())) : std::nullopt;
  std::vector<double> drawn;
  drawn.reserve(n);
  // Tasks of one span are alike as far as the trace shows.
  while (drawn.size() < n) {
    auto const i = place(spans.size());
    if (tail && i >= first)
      drawn.push_back(spans[first - 1].seconds + tail->quantile(uniform(dice)));
    else
      drawn.insert(drawn.end(), std::min<std::size_t>(spans[i].tasks, n - drawn.size()), spans[i].seconds);
  }
  if (double const mean = population.mean(); mean_wanted && mean > 0)
    for (double& x : drawn) x *= *mean_wanted / mean;
  return drawn;
}

}  // namespace skel::model
