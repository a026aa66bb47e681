// Simulates ring_steal of a list of tasks.
#include <cstdint>

#include "skel/ring_steal.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

namespace {

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
