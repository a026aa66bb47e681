#include "connect.hpp"

#include <memory>
#include <utility>

#include "skel/error.hpp"

namespace skel::components {

edge_part part_of_rank(edge_part all, components_job const& job, int rank, int ranks) {
  // As the skeleton halves groups of ranks: the larger half is the left one.
  for (int first = 0, last = ranks; last - first > 1;) {
    int const middle = first + (last - first + 1) / 2;
    auto const share = static_cast<double>(middle - first) / (last - first);
    constexpr double even = 0.5;
    auto const halves = share == even ? job.divide(all) : job.divide(all, share);
    bool const left = rank < middle;
    all = halves.at(left ? 0 : 1);
    (left ? last : first) = middle;
  }
  return all;
}

edge_part generated_graph(graph_spec const& spec, components_job const& job, any_division const& kind,
                          int rank, int ranks) {
  auto const make = [&](std::uint64_t first, std::uint64_t count) {
    big_array<edge> edges(count);
    generate(spec, first, {edges.data(), edges.size()});
    return edges;
  };
  if (kind.which() == any_division::kind::tree) return edge_part(make(0, rank == 0 ? spec.edges : 0));
  auto const hold = [&](big_array<edge> edges, std::uint64_t first) {
    edge_array a;
    a.edges = std::move(edges);
    a.first = first;
    a.formula = spec;
    return edge_part(std::make_shared<edge_array const>(std::move(a)), 0, spec.edges);
  };
  auto const mine = part_of_rank(hold({}, 0), job, rank, ranks);
  return hold(make(mine.first(), mine.size()), mine.first());
}

void refuse_parts(any_division const& kind) {
  if (kind.which() == any_division::kind::distributed)
    throw usage_error(
        "--kind distributed: combining components is not trivial, parts alone are no solution; expected "
        "hypercube, tree or embarrassing");
}

observe::problem_size sizes_of(components_job const& job, std::uint64_t edges) {
  return {{"N", std::to_string(job.nodes)},
          {"M", std::to_string(edges)},
          {"local", job.local == local_method::dfs ? "dfs" : "union-find"},
          {"exchange", job.how == exchange::dense ? "dense" : "cheapest"}};
}

}  // namespace skel::components
