// Union-find by Rem's algorithm (Dijkstra 1976, p. 161; the fastest of 53 variants in Patwary,
// Blair and Manne, "Experiments on union-find algorithms for the disjoint-set data structure", SEA
// 2010), tuned to hide the latency of caches.
//
// Invariant: parent[x] <= x, so the root of a tree is its smallest node. [Hyper, §6] calls it the
// member with the lowest visitation index. Labels result directly and do not depend on the order of
// links.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "edge.hpp"

namespace components {

/// Labels a graph: label[x] becomes the smallest node of x's component. `label` need not be
/// initialised and must cover every node that occurs. The result is the same for every number of
/// threads. One thread is used per three times `worthwhile` edges; fewer than `worthwhile` are
/// linked one by one, without first searching for those that join trees. If all threads together
/// need more than `tolerated` times as long as one did for the first edges, one continues alone. The
/// gain must outweigh the second look at all edges that several threads make necessary, a sixth of
/// the time of one.
void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile = 1U << 19U, double tolerated = 0.75);

// Always inlined: GCC 12 treats a function that only prefetches as having no effect and drops its
// calls.
[[gnu::always_inline]] inline void prefetch(node const* parent, node x) { __builtin_prefetch(parent + x, 1); }

// Threads may link in one forest at the same time. With a single thread these are plain loads and
// stores.
inline node parent_of(node* parent, node x) {
  return std::atomic_ref(parent[x]).load(std::memory_order_relaxed);
}
inline void set_parent(node* parent, node x, node to) {
  std::atomic_ref(parent[x]).store(to, std::memory_order_relaxed);
}
inline edge parents_of(node* parent, edge e) { return {parent_of(parent, e.u), parent_of(parent, e.v)}; }

/// Takes one step towards one tree for both ends of `e`, whose parents are `above`: the node with
/// the larger parent is attached to the smaller parent. If it was a root, two trees have become
/// one; otherwise its old parent must follow (splicing), and `e` becomes the edge that is left to
/// unite. Returns true if another step is needed. Both ends advance to their parents; Rem keeps the
/// other one in place, which takes more steps.
///
/// The code is branch-free: the larger of two random parents cannot be predicted, and a
/// misprediction costs as much as ten of these steps.
inline bool step(node* parent, edge& e, edge above) {
  node const swap = -static_cast<node>(above.u < above.v);
  node const high = e.u ^ ((e.u ^ e.v) & swap);
  node const parent_high = above.u > above.v ? above.u : above.v;
  node const parent_low = above.u ^ above.v ^ parent_high;
  set_parent(parent, high, parent_low);  // unchanged if both are in one tree
  bool const together = above.u == above.v, was_root = parent_high == high;
  e = {parent_high, parent_low};
  return !together & !was_root;
}

/// Unites the ends of many edges in parallel. A step waits for two random accesses, so an edge that
/// needs another step queues behind others while its nodes are prefetched. Twice as fast as one
/// edge after the other on 2 million nodes.
class linker {
 public:
  explicit linker(node* parent) : parent_(parent) {}

  void link(std::span<edge const> edges) {
    while (!edges.empty()) {
      auto const sample = edges.first(edges.size() < sample_size ? edges.size() : sample_size);
      auto const joined =
          mostly_together_ ? link_part<true, true>(sample, edges) : link_part<false, true>(sample, edges);
      mostly_together_ = 10 * joined > 7 * sample.size();
      edges = edges.subspan(sample.size());
      if (edges.empty()) return;
      auto const part = edges.first(edges.size() < part_size ? edges.size() : part_size);
      mostly_together_ ? link_part<true, false>(part, edges) : link_part<false, false>(part, edges);
      edges = edges.subspan(part.size());
    }
  }

  /// Whether most edges of the last sample lay inside one tree.
  [[nodiscard]] bool mostly_together() const { return mostly_together_; }

  /// Completes all pending links. Required before the result is used.
  void finish() {
    while (waiting_ > 0) waiting_ = sweep(waiting_);
  }

 private:
  static constexpr std::size_t sample_size = 512, part_size = 3584, ahead = 32, turn = 32;

  // Each edge takes its first step branch-free. With `skip`, edges inside one tree leave by a
  // branch that is nearly always taken. With `count`, returns how many edges had both ends in one
  // tree at first sight; always counting would take 5 % longer.
  template <bool skip, bool count>
  std::size_t link_part(std::span<edge const> part, std::span<edge const> all) {
    auto* const parent = parent_;
    std::size_t joined = 0,
                waiting = waiting_;  // local copies, because atomic stores prevent caching in registers
    auto const* const last = &all.back();
    for (auto const& given : part) {
      edge const& next = last - &given > static_cast<std::ptrdiff_t>(ahead) ? (&given)[ahead] : *last;
      prefetch(parent, next.u);
      prefetch(parent, next.v);
      edge const above = parents_of(parent, given);
      bool const together = above.u == above.v;
      if (count) joined += static_cast<std::size_t>(together);
      if (skip && together) continue;
      edge e = given;
      bool const more = step(parent, e, above);
      line_[waiting] = e;
      waiting += static_cast<std::size_t>(more);
      prefetch(parent, e.u);
      prefetch(parent, e.v);
      if (waiting >= turn) waiting = sweep(waiting);
    }
    waiting_ = waiting;
    return joined;
  }

  // Takes one step for each waiting edge. Returns the number that need another.
  std::size_t sweep(std::size_t waiting) {
    auto* const parent = parent_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting; ++i) {
      edge e = line_[i];
      bool const more = step(parent, e, parents_of(parent, e));
      line_[kept] = e;
      kept += static_cast<std::size_t>(more);
      prefetch(parent, e.u);
      prefetch(parent, e.v);
    }
    return kept;
  }

  node* parent_;
  bool mostly_together_ = false;
  std::size_t waiting_ = 0;
  std::array<edge, turn + 1> line_;
};

/// Links a forest into another forest of the same nodes. A node that is a root there becomes a
/// child of its label; these stores are sequential, since nodes ascend. Only a node that is a child
/// in both forests unites two trees, which takes steps at random nodes. That is every second link
/// for random halves with N = M.
class forest_linker {
 public:
  explicit forest_linker(node* parent) : parent_(parent), links_(parent) {}

  /// Requires label <= x. Branch-free, because whether a node is a root cannot be predicted.
  void link(node x, node label) {
    node const above = parent_[x];
    auto const is_root = static_cast<node>(above == x);
    parent_[x] = above ^ ((above ^ label) & -is_root);
    between_[size_] = {above, label};
    size_ += 1 - is_root;
    if (size_ == between_.size()) flush();
  }
  /// For loops that link several nodes at once: the forest, and room for `most` edges between
  /// trees, which added() counts.
  [[nodiscard]] node* parent() { return parent_; }
  [[nodiscard]] edge* room(std::size_t most) {
    if (size_ + most > between_.size()) flush();
    return between_.data() + size_;
  }
  void added(std::size_t count) { size_ += count; }

  /// Completes all pending links. Required before the result is used.
  void finish() {
    flush();
    links_.finish();
  }

 private:
  void flush() {
    links_.link({between_.data(), size_});
    size_ = 0;
  }

  node* parent_;
  linker links_;
  std::size_t size_ = 0;
  std::array<edge, 4096> between_;
};

/// Makes every node a tree of its own.
inline void make_singletons(std::span<node> parent) {
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<node>(i);
}

/// Makes every node point to its root. One pass in ascending order suffices, because parents
/// precede their children.
inline void compress(std::span<node> parent) {
  constexpr std::size_t ahead = 64;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    prefetch(parent.data(), parent[i + ahead < parent.size() ? i + ahead : parent.size() - 1]);
    parent[i] = parent[parent[i]];
  }
}

/// Returns a word whose bit i is flags[i], 0 or 1. A multiplication packs eight bytes into one.
inline std::uint64_t bits_of(std::array<std::uint8_t, 64> const& flags) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < flags.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &flags[i], sizeof eight);
    word |= (eight * 0x0102040810204080 >> 56) << i;
  }
  return word;
}

/// Returns the label of a component with at least a sixteenth of the nodes, estimated from a
/// thousand of them as in Afforest (Sutton, Ben-Nun and Barak 2018), or most_nodes, which labels no
/// node, if there is none.
[[nodiscard]] node label_of_giant(std::span<node const> labels);

}  // namespace components
