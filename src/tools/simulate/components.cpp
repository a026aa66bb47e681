#include "tools/simulate/components.hpp"

#include "job.hpp"
#include "search.hpp"
#include "skel/sim/run.hpp"

namespace skel::simulate {

namespace {

using components::components_job;
using components::edge_part;
using components::roots;

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
    sim::spend(costs->next(call, rank, phase, std::move(seconds)));
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

edge_part made(components::graph_spec const& spec) {
  components::big_array<components::edge> edges(spec.edges);
  components::generate(spec, 0, {edges.data(), edges.size()});
  return edge_part(std::move(edges));
}

}  // namespace

components_simulation::components_simulation(options const& o)
    : options_(o), kind_(o.kind), costs_({o.replay, o.measurements, o.cost_scale, o.noise, o.seed}) {
  components::refuse_parts(kind_);
  for (auto const& text : o.graphs) {
    auto const spec = components::parse_graph(text);
    graphs_.push_back({spec, made(spec)});
  }
}

void components_simulation::run(context& ctx, result& out) {
  int call = 0;
  for (auto const& g : graphs_)
    for (int i = 0; i < options_.repetitions; ++i) {
      if (call > 0 && ctx.is_root() && !options_.common.samples.empty())
        observe::append_sample(options_.common.samples, program_name, out.run.run, out.run.problem);
      double const before = costs_.total();
      simulated_components job;
      job.nodes = g.spec.nodes;
      job.local =
          options_.local == "dfs" ? components::local_method::dfs : components::local_method::union_find;
      job.how = options_.exchange == "dense" ? components::exchange::dense : components::exchange::cheapest;
      job.costs = &costs_;
      job.call = call++;
      job.rank = ctx.rank();
      auto found = components::connect(ctx, g.edges, job, kind_);
      if (!ctx.is_root()) continue;
      auto const edges = g.edges.edges();
      if (components::find_fault(edges.span(), found.labels.labels())) ++out.wrong;
      out.run.run = std::move(found.run);
      out.run.problem = components::sizes_of(job, g.spec.edges);
      out.cost = costs_.total() - before;
    }
  if (ctx.is_root()) out.traces = ctx.traces();
}

void components_simulation::save_trace() const {
  if (!options_.record.empty()) costs_.save(options_.record);
}

}  // namespace skel::simulate
