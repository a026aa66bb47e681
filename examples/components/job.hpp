// Connected components as a job of skel::divide_and_conquer: the case study of "Hypercube divide and
// conquer", section 6. The edges are divided, each part gives a forest, and forests are combined.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "edge_part.hpp"
#include "roots.hpp"

namespace skel::components {

/// How a part is solved on one rank.
enum class local_method : std::uint8_t {
  union_find,
  dfs,  ///< adjacency list and depth-first search: the paper's, for its table 2
};

struct components_job {
  using problem = edge_part;
  using solution = roots;

  std::uint64_t nodes = 0;  ///< N; at most most_nodes
  local_method local = local_method::union_find;
  exchange how = exchange::cheapest;

  [[nodiscard]] bool trivial(edge_part const& part) const { return part.size() <= 1; }
  /// Of no edge or one.
  [[nodiscard]] roots conquer(edge_part const& part) const;
  /// The first ceil(M / 2) edges, and the others.
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& part) const { return part.halves(); }
  /// The first part has this share of the edges, for numbers of ranks that are no powers of two.
  [[nodiscard]] std::array<edge_part, 2> divide(edge_part const& part, double share) const;
  [[nodiscard]] roots combine(roots a, roots b) const { return roots::combine(std::move(a), std::move(b)); }
  [[nodiscard]] roots solve(edge_part const& part) const { return solve(part, 1); }
  /// A forest per thread, linked uncompressed: less work than combine() of their solutions.
  [[nodiscard]] roots solve(edge_part const& part, unsigned threads) const;

  /// What the paper's cost functions depend on: T_div on M, T_comb on N, T_seq on both (section 7).
  [[nodiscard]] std::vector<std::pair<std::string, double>> measure(edge_part const& part) const {
    return {{"N", static_cast<double>(nodes)}, {"M", static_cast<double>(part.size())}};
  }
};

}  // namespace skel::components
