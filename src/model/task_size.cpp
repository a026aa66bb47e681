#include "skel/model/task_size.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

constexpr double hand_over_seconds = 2e-6;
constexpr double tasks_per_worker = 4;

struct costs {
  double work = 0, messages = 0, root = 0, end = 0;
  [[nodiscard]] bool root_decides() const { return root > work + messages; }
  [[nodiscard]] double seconds() const { return std::max(work + messages, root) + end; }
};

costs costs_of(farm_work const& w, machine_at const* where, double task_units) {
  double const l = where != nullptr ? where->latency_seconds : 0;
  double const g = where != nullptr ? where->gap_seconds_per_byte : 0;
  double const tasks = w.units / task_units;
  double const bytes = w.units * w.unit_bytes * g;
  return {w.units * w.unit_seconds / w.workers, (tasks * (hand_over_seconds + 2 * l) + bytes) / w.workers,
          tasks * 2 * l + bytes, task_units * w.unit_seconds / 2};
}

void check(farm_work const& w) {
  if (w.workers < 1) throw usage_error(detail::format("{} workers, expected at least 1", w.workers));
  for (double const x : {w.units, w.unit_seconds, w.unit_bytes})
    if (!(x >= 0) || !std::isfinite(x))
      throw usage_error(
          detail::format("a farm of {} units, {} s and {} bytes each, expected numbers of at least 0",
                         w.units, w.unit_seconds, w.unit_bytes));
}

part named(char const* name, double seconds, std::string how) {
  part p;
  p.name = name;
  p.seconds = seconds;
  p.how = std::move(how);
  return p;
}

}  // namespace

estimate predict_farm(farm_work const& w, machine_at const* where, double task_units) {
  check(w);
  if (!(task_units >= 1) || !std::isfinite(task_units))
    throw usage_error(detail::format("tasks of {} units, expected at least 1", task_units));
  auto const c = costs_of(w, where, task_units);
  auto const tasks = detail::format("{:.4g} tasks", w.units / task_units);
  estimate e;
  if (c.root_decides()) {
    e.parts = {named("root", c.root, tasks + " and all results pass through the root")};
  } else {
    e.parts = {
        named("work", c.work,
              detail::format("{:.10g} units of {:.4g} s, {} workers", w.units, w.unit_seconds, w.workers)),
        named("messages", c.messages, tasks + ", two messages each")};
  }
  e.parts.push_back(named("end", c.end, "half a task"));
  return e;
}

double best_task_units(farm_work const& w, machine_at const* where) {
  check(w);
  double low = 1;
  double high = std::max(1.0, w.units / (tasks_per_worker * w.workers));
  // T is convex: the maximum of two falling hyperbolas, plus a rising line.
  constexpr int steps = 100;
  for (int i = 0; i < steps; ++i) {
    double const a = low + (high - low) / 3;
    double const b = high - (high - low) / 3;
    if (costs_of(w, where, a).seconds() < costs_of(w, where, b).seconds())
      high = b;
    else
      low = a;
  }
  return (low + high) / 2;
}

}  // namespace skel::model
