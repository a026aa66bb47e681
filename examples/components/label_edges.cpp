#include "skel/applications/label_edges.hpp"

#include <algorithm>
#include <string>

#include "job.hpp"
#include "skel/error.hpp"

namespace components {

component_labels label_edges(skel::context& ctx, std::span<std::array<std::uint32_t, 2> const> edges,
                             std::uint64_t nodes, skel::divide_and_conquer_options const& options) {
  ctx.require_same("label_edges: nodes", std::to_string(nodes));
  if (nodes > most_nodes)
    throw skel::usage_error("label_edges: expected at most " + std::to_string(most_nodes) + " nodes");
  big_array<edge> own(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (std::max(edges[i][0], edges[i][1]) >= nodes)
      throw skel::usage_error("label_edges: edge " + std::to_string(i) + " is (" +
                              std::to_string(edges[i][0]) + ", " + std::to_string(edges[i][1]) +
                              "), but there are " + std::to_string(nodes) + " nodes");
    own[i] = {edges[i][0], edges[i][1]};
  }
  components_job job;
  job.nodes = nodes;
  auto found = skel::divide_and_conquer(ctx, skel::own_part{edge_part(std::move(own))}, job,
                                        skel::division::hypercube{}, options);
  component_labels result{{}, std::move(found.report)};
  if (found.value.here() && ctx.is_root()) {
    roots solution = *std::move(found.value);
    auto const labels = solution.labels();
    result.labels.assign(labels.begin(), labels.end());
  }
  return result;
}

}  // namespace components
