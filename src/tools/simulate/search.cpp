// Simulates ring_steal: the searches of the example program, and lists of tasks.
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "jobs.hpp"
#include "skel/ring_steal.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

namespace {

// A search whose nodes cost virtual time.
struct simulated_search : search::tree_search {
  double node_seconds = 0;
  void run(task const& n, spawner<task>& more, search::tree_counts& found) const {
    sim::spend(node_seconds);
    tree_search::run(n, more, found);
  }
};

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

ring_steal_options parse(options const& o) {
  ring_steal_options how;
  auto const ring = any_schedule(fmt::format("ring:take={},order={}", o.take, o.order)).policy();
  how.take = ring.take;
  how.order = ring.order;
  return how;
}

}  // namespace

void simulate_stealing(context& ctx, options const& o, std::vector<double> const& costs, result& out) {
  std::uint64_t const n = costs.size();
  auto const r = ring_steal(ctx, indices(n), simulated_list{costs}, parse(o));
  if (!ctx.is_root()) return;
  if (r.report.tasks != n || r.value != n * (n - 1) / 2) ++out.wrong;
  out.run.run = r.report;
  out.traces = ctx.traces();
}

void simulate_search(context& ctx, options const& o, double node_seconds, result& out) {
  auto const tree = search::parse_tree(o.tree);
  simulated_search const job{{search::uts_tree(tree.parameters)}, node_seconds};
  auto const root = [&] { return std::array{job.tree.root()}; };
  auto const r = ring_steal(ctx, on_root(root), job, parse(o));
  if (!ctx.is_root()) return;
  out.cost = static_cast<double>(r.value.nodes) * node_seconds;
  out.run.run = r.report;
  out.traces = ctx.traces();
  if (tree.published && !(*tree.published == r.value)) ++out.wrong;
}

}  // namespace skel::simulate
