// Simulates a farm, and ring_steal of a list: tasks that cost virtual time.
#include <cstdint>

#include "skel/farm.hpp"
#include "skel/ring_steal.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

namespace {

// The bytes of a result encode its task, so that the root can check every result.
std::vector<std::uint8_t> result_of(std::uint64_t task, std::size_t bytes) {
  std::vector<std::uint8_t> r(bytes);
  for (std::size_t i = 0; i < bytes; ++i) r[i] = static_cast<std::uint8_t>(task >> (i % 8 * 8));
  return r;
}

// A list of tasks that spawn nothing. The sum of their numbers shows that each has run once.
struct simulated_list {
  using task = std::uint64_t;
  using result = std::uint64_t;
  std::vector<double> const& costs;

  void run(task n, spawner<task>&, result& sum) const {
    sim::spend(costs[n]);
    sum += n;
  }
  [[nodiscard]] static result merge(result a, result b) { return a + b; }
};

}  // namespace

void simulate_farm(context& ctx, options const& o, std::vector<double> const& costs,
                   std::vector<planned_failure> const& failures, result& out) {
  std::uint64_t had = 0;
  farm_options how;
  how.results = o.common.results();
  how.root_works = o.common.of_farm.root_works;
  if (o.work.longest_first) how.task.cost = [&](task_id task) { return costs[task]; };
  auto const r = farm(
                     ctx, indices(costs.size()),
                     [&](std::uint64_t task) {
                       sim::spend(costs[task]);
                       return result_of(task, o.work.result_bytes);
                     },
                     o.common.schedule(),
                     [&](task_id task, std::vector<std::uint8_t>&& got) {
                       if (got != result_of(task, o.work.result_bytes)) ++out.wrong;
                       ++had;
                       for (auto const& f : failures)
                         if (f.results == had) sim::kill(f.at.rank);
                     },
                     how)
                     .report;
  if (!ctx.is_root()) return;
  out.run.run = r;
  out.traces = ctx.traces();
}

void simulate_stealing(context& ctx, schedule::stealing const& how, std::vector<double> const& costs,
                       result& out) {
  std::uint64_t const n = costs.size();
  auto const r = ring_steal(ctx, indices(n), simulated_list{costs}, how);
  if (!ctx.is_root()) return;
  if (r.report.tasks != n || r.value != n * (n - 1) / 2) ++out.wrong;
  out.run.run = r.report;
  out.traces = ctx.traces();
}

}  // namespace skel::simulate
