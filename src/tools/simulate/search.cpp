// Simulates the searches of the example program.
#include <array>

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

}  // namespace

void simulate_search(context& ctx, options const& o, double node_seconds, result& out) {
  auto const tree = search::parse_tree(o.tree);
  simulated_search const job{{search::uts_tree(tree.parameters)}, node_seconds};
  ring_steal_options how;
  how.take = o.take == "one" ? steal_size::one : steal_size::half;
  auto const root = [&] { return std::array{job.tree.root()}; };
  auto const r = ring_steal(ctx, on_root(root), job, how);
  if (!ctx.is_root()) return;
  out.cost = static_cast<double>(r.value.nodes) * node_seconds;
  out.run.run = r.report;
  out.traces = ctx.traces();
  if (tree.published && !(*tree.published == r.value)) ++out.wrong;
}

}  // namespace skel::simulate
