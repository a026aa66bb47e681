#include "job.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "search.hpp"
#include "skel/error.hpp"
#include "union_find.hpp"

namespace components {

std::array<edge_part, 2> components_job::divide(edge_part const& part, double share) const {
  auto const units = static_cast<double>(part.units());
  return part.split(static_cast<std::uint64_t>(std::llround(std::clamp(share, 0.0, 1.0) * units)));
}

roots components_job::solve(edge_part const& part, unsigned threads) const {
  auto const edges = part.edges();
  auto labels = memory_for_labels(nodes);
  std::span<node> const all(labels.data(), labels.size());
  if (local == local_method::dfs)
    search_depth_first(edges.span(), all);
  else
    label_components(edges.span(), all, threads);
  return {std::move(labels), how};
}

void refuse_parts(skel::any_division const& kind) {
  if (kind.which() == skel::any_division::kind::distributed)
    throw skel::usage_error(
        "--kind distributed: parts of the labels are not a solution and must be combined, expected "
        "hypercube, tree or embarrassing");
}

namespace {

// Returns the edges that a rank will solve.
edge_part part_of_rank(edge_part all, components_job const& job, int rank, int ranks) {
  // The left half of a group of ranks is the larger one, as in the skeleton.
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

}  // namespace

edge_part generated_graph(graph_spec const& spec, components_job const& job, skel::any_division const& kind,
                          int rank, int ranks) {
  auto const make = [&](std::uint64_t first, std::uint64_t count) {
    big_array<edge> edges(count);
    generate(spec, first, {edges.data(), edges.size()});
    return edges;
  };
  if (kind.which() == skel::any_division::kind::tree) return edge_part(make(0, rank == 0 ? spec.edges : 0));
  auto const hold = [&](big_array<edge> edges, std::uint64_t first) {
    return edge_part(std::make_shared<edge_array const>(edge_array{std::move(edges), first, spec, {}}), 0,
                     spec.edges);
  };
  auto const mine = part_of_rank(hold({}, 0), job, rank, ranks);
  return hold(make(mine.first(), mine.size()), mine.first());
}

skel::observe::problem_size sizes_of(components_job const& job, std::uint64_t edges) {
  return {{"N", std::to_string(job.nodes)},
          {"M", std::to_string(edges)},
          {"local", job.local == local_method::dfs ? "dfs" : "union-find"},
          {"exchange", job.how == exchange::dense ? "dense" : "cheapest"}};
}

}  // namespace components
