// skel-simulate --generate: connected components on a simulated cluster. Graphs, messages and labels are
// real, only time is virtual.
#include "program/simulation.hpp"

#include <CLI/CLI.hpp>
#include <optional>

#include "block_costs.hpp"
#include "job.hpp"
#include "program/help.hpp"
#include "program/paths.hpp"
#include "search.hpp"
#include "skel/observe/samples.hpp"
#include "skel/sim/run.hpp"

namespace components {

namespace {

// A job whose functions cost the virtual time given by block_costs.
class simulated_components : public components_job {
  // Ranks take turns on one thread, so a measured block contains no other rank's work.
  template <class F, class... In>
  auto charged(std::string const& phase, F const& work, In... in) const {
    std::vector<double> seconds;
    auto const timed = [&](auto... inputs) {
      double const begin = thread_seconds();
      auto r = work(std::move(inputs)...);
      seconds.push_back(thread_seconds() - begin);
      return r;
    };
    for (int i = 1; i < costs->measurements(); ++i) (void)timed(in...);
    auto r = timed(std::move(in)...);
    skel::sim::spend(costs->next(call, rank, phase, std::move(seconds)));
    return r;
  }

 public:
  block_costs* costs = nullptr;
  int call = 0;
  int rank = 0;

  [[nodiscard]] roots conquer(edge_part const& all) const {
    return charged(
        "solve", [this](edge_part const& part) { return components_job::conquer(part); }, all);
  }
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& all) const {
    return charged(
        "divide", [this](edge_part const& part) { return components_job::divide(part); }, all);
  }
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& all, double share) const {
    return charged(
        "divide", [&](edge_part const& part) { return components_job::divide(part, share); }, all);
  }
  [[nodiscard]] roots combine(roots left, roots right) const {
    return charged(
        "combine", [](roots a, roots b) { return roots::combine(std::move(a), std::move(b)); },
        std::move(left), std::move(right));
  }
  [[nodiscard]] roots solve(edge_part const& all) const {
    return charged(
        "solve", [this](edge_part const& part) { return components_job::solve(part, 1); }, all);
  }
};

edge_part made(graph_spec const& spec) {
  big_array<edge> edges(spec.edges);
  generate(spec, 0, {edges.data(), edges.size()});
  return edge_part(std::move(edges));
}

/// Runs one divide_and_conquer call after the other: each graph as often as the options request.
class simulation final : public skel::program::simulated_job {
 public:
  [[nodiscard]] std::string skeleton() const override { return "divide_and_conquer"; }
  void add_options(CLI::App& app) override {
    using namespace skel::program;
    auto const group = "divide_and_conquer: connected components";
    auto const choice = [&](char const* name, std::string& value, std::vector<std::string> const& known,
                            char const* text) {
      app.add_option(name, value, text)->capture_default_str()->check(CLI::IsMember(known))->group(group);
    };
    option(app, "--generate SPEC", graphs_, "graph, as in skel-components; may be repeated", in_group{group})
        ->allow_extra_args(false);
    option(app, "--repetitions", repetitions_, "runs of every graph; each adds a line to --samples",
           shown_default, CLI::Range(1, 1'000'000), in_group{group});
    choice("--kind", kind_, {"hypercube", "tree", "embarrassing"},
           "structure in which ranks divide and combine");
    choice("--local", local_, {"union-find", "dfs"}, "algorithm of a single rank");
    choice("--exchange", exchange_, {"cheapest", "dense"}, "encoding that partners exchange");
    option(app, "--measurements N", measurements_, "runs of each block of the job; its cost is the median",
           shown_default, CLI::Range(1, 1000), in_group{group});
    option(app, "--cost-scale X", cost_scale_, "factor of the measured cost of a block", shown_default,
           CLI::Range(1e-6, 1e6), in_group{group});
    option(app, "--noise X", noise_, "relative standard deviation of each block's cost, drawn with --seed",
           shown_default, CLI::Range(0.0, 0.3), in_group{group});
    option(app, "--record FILE.csv", record_,
           "write the cost of each block, so that the run can be repeated exactly", in_group{group});
    option(app, "--replay FILE.csv", replay_, "read the costs of blocks from a recorded file",
           CLI::ExistingFile, in_group{group});
    skel::program::rarely_used(
        app, {"--repetitions", "--measurements", "--cost-scale", "--noise", "--record", "--replay"});
  }
  /// Builds the graphs once for all ranks. Throws usage_error if a graph cannot be read.
  std::function<void(skel::context&)> start(skel::program::simulation_settings const& settings,
                                            skel::program::simulation_result& out) override {
    if (!record_.empty()) skel::program::check_writable(record_);
    costs_.emplace(block_costs::settings{replay_, measurements_, cost_scale_, noise_, settings.seed});
    skel::any_division const kind(kind_);
    refuse_parts(kind);
    for (auto const& text : graphs_) {
      auto const spec = parse_graph(text);
      made_.push_back({spec, made(spec)});
    }
    if (!record_.empty()) out.afterwards = [this] { costs_->save(record_); };
    return [this, kind, &out, samples = settings.common.files.samples](skel::context& ctx) {
      run(ctx, kind, samples, out);
    };
  }

 private:
  struct graph {
    graph_spec spec;
    edge_part edges;
  };

  // The last call is the result; the others only append samples.
  void run(skel::context& ctx, skel::any_division const& kind, std::string const& samples,
           skel::program::simulation_result& out) {
    int call = 0;
    for (auto const& g : made_)
      for (int i = 0; i < repetitions_; ++i) {
        if (call > 0 && ctx.is_root() && !samples.empty())
          skel::observe::append_sample(samples, skel::program::simulator_name, out.run.run, out.run.problem);
        double const before = costs_->total();
        simulated_components job;
        job.nodes = g.spec.nodes;
        job.local = local_ == "dfs" ? local_method::dfs : local_method::union_find;
        job.how = exchange_ == "dense" ? exchange::dense : exchange::cheapest;
        job.costs = &*costs_;
        job.call = call++;
        job.rank = ctx.rank();
        auto found = connect(ctx, g.edges, job, kind);
        if (!ctx.is_root()) continue;
        auto const edges = g.edges.edges();
        if (find_fault(edges.span(), found.labels.labels())) ++out.wrong;
        out.run.run = std::move(found.run);
        out.run.problem = sizes_of(job, g.spec.edges);
        out.cost = costs_->total() - before;
      }
    if (ctx.is_root()) out.traces = ctx.traces();
  }

  std::vector<std::string> graphs_{"uniform:n=64000,m=64000,seed=1"};
  std::string kind_ = "hypercube", exchange_ = "cheapest", local_ = "union-find", record_, replay_;
  int measurements_ = 3, repetitions_ = 1;
  double cost_scale_ = 1, noise_ = 0;
  std::optional<block_costs> costs_;
  std::vector<graph> made_;
};

bool const added = skel::program::add_simulated_job<simulation>();

}  // namespace

}  // namespace components
