// The searches as jobs of skel::ring_steal.
#pragma once

#include "queens.hpp"
#include "skel/ring_steal.hpp"
#include "uts.hpp"

/// Merges by sums and a maximum, so the order is irrelevant.
template <>
inline constexpr bool skel::exact_merge<search::tree_counts> = true;

namespace search {

/// A task is a node; it spawns its children.
struct tree_search {
  using task = uts_node;
  using result = tree_counts;
  uts_tree tree;

  void run(uts_node const& n, skel::spawner<uts_node>& more, tree_counts& found) const {
    unsigned const children = tree.number_of_children(n);
    ++found.nodes;
    if (children == 0) ++found.leaves;
    if (n.depth > found.depth) found.depth = n.depth;
    for (unsigned i = 0; i < children; ++i) more(uts_tree::child(n, i));
  }
  [[nodiscard]] tree_counts merge(tree_counts const& a, tree_counts const& b) const { return a + b; }
};

/// A task is a placement of the first rows. With few rows left it counts without spawning.
struct queens_search {
  using task = placement;
  using result = std::uint64_t;
  static constexpr unsigned rows_of_a_task = 9;
  unsigned n = 8;

  void run(placement const& p, skel::spawner<placement>& more, std::uint64_t& solutions) const {
    if (p.row + rows_of_a_task >= n) {
      solutions += count_queens(p, n);
      return;
    }
    for (auto open = free_columns(p, n); open != 0; open &= open - 1) more(place(p, open & -open));
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace search
