#include "job.hpp"

#include <algorithm>
#include <cmath>

#include "depth_first.hpp"
#include "parallel_link.hpp"

namespace skel::components {

roots components_job::conquer(edge_part const& part) const {
  if (part.size() == 0) return {nodes, how};
  return {part.edges().span().front(), nodes, how};
}

std::array<edge_part, 2> components_job::divide(edge_part const& part, double share) const {
  auto const edges = static_cast<double>(part.size());
  return part.split(static_cast<std::uint64_t>(std::llround(std::clamp(share, 0.0, 1.0) * edges)));
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

}  // namespace skel::components
