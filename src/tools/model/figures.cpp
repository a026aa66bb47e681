#include "tools/model/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "skel/error.hpp"

namespace skel::model {

std::vector<plot> fit_figures(model const& m, std::span<sample const> samples) {
  std::vector<plot> all;
  for (auto const& s : m.skeletons) {
    plot fits{s.name() + ": fitted against measured", "measured", "fitted", true, true, true, {}};
    plot residuals{
        s.name() + ": relative error", "measured", "(fitted - measured) / measured", true, false, false, {}};
    for (auto const& t : s.terms) {
      series fit{t.phase + " " + t.quantity, {}, false, true};
      series residual = fit;
      for (auto const& o : observations_of(samples, s, t)) {
        double const expected = t.curve(o.at);
        fit.points.emplace_back(o.value, expected);
        residual.points.emplace_back(o.value, (expected - o.value) / o.value);
      }
      fits.data.push_back(std::move(fit));
      residuals.data.push_back(std::move(residual));
    }
    all.push_back(std::move(fits));
    all.push_back(std::move(residuals));
  }
  return all;
}

plot run_figure(model const& m, machine const* where, std::span<sample const> samples,
                predict_options const& how) {
  plot p{"Predicted time of whole runs", "measured seconds", "predicted seconds", true, true, true, {}};
  for (auto const& s : m.skeletons) {
    series one{s.name(), {}, false, true};
    for (auto const& r : samples) {
      bool const same = r.program == s.program && r.skeleton == s.skeleton && r.schedule == s.schedule &&
                        r.results == s.results;
      auto const ranks = r.variables.find("P");
      auto const measured = r.measured.find("seconds");
      if (!same || r.phase != "run" || ranks == r.variables.end() || measured == r.measured.end()) continue;
      auto const e = predict(s, where, r.variables, static_cast<int>(ranks->second), how);
      one.points.emplace_back(measured->second, e.seconds());
    }
    if (!one.points.empty()) p.data.push_back(std::move(one));
  }
  if (p.data.empty())
    throw usage_error("the samples contain no whole run (phase run) of the model's skeletons");
  return p;
}

namespace {

plot curve_figure(machine const& m, std::string const& kind, std::string const& pattern,
                  curve machine_at::*which, double per_timing) {
  plot p{pattern + ", " + kind, "bytes", "seconds", true, true, false, {}};
  for (auto const& at : m.at) {
    if (at.kind != kind || (at.*which).empty()) continue;
    series measured{fmt::format("{} ranks", at.ranks), {}, false, true};
    series fitted_line{fmt::format("{} ranks, fitted", at.ranks), {}, true, false};
    for (auto const& t : at.timings) {
      if (!t.pattern.starts_with(pattern)) continue;
      double const bytes = t.bytes * (which == &machine_at::all_to_all ? at.ranks - 1 : 1);
      measured.points.emplace_back(bytes, t.seconds / t.messages / per_timing);
      fitted_line.points.emplace_back(bytes, (at.*which)(bytes));
    }
    p.data.push_back(std::move(measured));
    p.data.push_back(std::move(fitted_line));
  }
  return p;
}

// Reproduces figure 2 of [Hyper].
plot parameter_figure(machine const& m, std::string const& kind, std::string const& title,
                      std::string const& unit, double machine_at::*by_size, double machine_at::*by_number) {
  plot p{title + ", " + kind, "ranks", unit, false, false, false, {}};
  p.data = {{"size varying", {}, true, true}, {"number varying", {}, true, true}};
  for (auto const& at : m.at) {
    if (at.kind != kind) continue;
    p.data[0].points.emplace_back(at.ranks, at.*by_size);
    p.data[1].points.emplace_back(at.ranks, at.*by_number);
  }
  return p;
}

}  // namespace

std::vector<plot> machine_figures(machine const& m) {
  std::set<std::string> kinds;
  for (auto const& at : m.at) kinds.insert(at.kind);
  std::vector<plot> all;
  for (auto const& kind : kinds) {
    all.push_back(parameter_figure(m, kind, "worst case latency l(P)", "seconds",
                                   &machine_at::latency_by_size, &machine_at::latency_by_number));
    all.push_back(parameter_figure(m, kind, "full all-to-all throughput g(P)", "seconds per byte",
                                   &machine_at::gap_by_size, &machine_at::gap_by_number));
    all.push_back(curve_figure(m, kind, "all-to-all by size", &machine_at::all_to_all, 1));
    all.push_back(curve_figure(m, kind, "ping-pong", &machine_at::ping_pong, 2));
    all.push_back(curve_figure(m, kind, "exchange", &machine_at::exchange, 1));
  }
  std::erase_if(all, [](plot const& p) {
    return std::ranges::all_of(p.data, [](series const& s) { return s.points.empty(); });
  });
  if (all.empty()) throw usage_error("the machine file contains no measurements to plot");
  return all;
}

}  // namespace skel::model
