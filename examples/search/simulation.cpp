// skel-simulate --tree: a search on a simulated cluster, whose nodes cost virtual time.
#include "program/simulation.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "jobs.hpp"
#include "program/help.hpp"
#include "skel/sim/run.hpp"

namespace search {

namespace {

struct simulated_nodes : tree_search {
  double node_seconds = 0;
  void run(task const& n, skel::spawner<task>& more, tree_counts& found) const {
    skel::sim::spend(node_seconds);
    tree_search::run(n, more, found);
  }
};

class simulation final : public skel::program::simulated_job {
 public:
  [[nodiscard]] std::string skeleton() const override { return "ring_steal"; }
  void add_options(CLI::App& app) override {
    using namespace skel::program;
    option(app, "--tree", tree_, "UTS tree to search, as in skel-search; --costs gives the cost of a node",
           shown_default, in_group{"ring_steal: search of a tree"});
  }
  std::function<void(skel::context&)> start(skel::program::simulation_settings const& settings,
                                            skel::program::simulation_result& out) override {
    auto const tree = parse_tree(tree_);
    return [tree, job = simulated_nodes{{uts_tree(tree.parameters)}, settings.task_seconds},
            how = settings.steal, &out](skel::context& ctx) {
      auto const root = [&] { return std::array{job.tree.root()}; };
      auto const r = skel::ring_steal(ctx, skel::on_root(root), job, how);
      if (!ctx.is_root()) return;
      out.cost = static_cast<double>(r.value.nodes) * job.node_seconds;
      out.run.run = r.report;
      out.traces = ctx.traces();
      if (tree.published && !(*tree.published == r.value)) ++out.wrong;
    };
  }

 private:
  std::string tree_ = "T1";
};

bool const added = skel::program::add_simulated_job<simulation>();

}  // namespace

}  // namespace search
