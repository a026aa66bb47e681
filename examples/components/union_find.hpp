// Union-find by Rem's algorithm (Dijkstra 1976, p. 161; fastest of 53 variants in Patwary, Blair and Manne,
// "Experiments on union-find algorithms for the disjoint-set data structure", SEA 2010), made for caches that
// are slower than the processor.
//
// parent[x] <= x always, so the root of a tree is its smallest node: [Hyper, §6] calls it the member with
// the lowest visitation index. Labels come out directly, and the result does not depend on the order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "edge.hpp"

namespace components {

/// Labels of the graph with these edges: label[x] is the smallest node of x's component. `label`
/// need not be initialised; it holds every node that occurs. The bytes are the same for every
/// number of threads. Another thread is started for every `worthwhile` edges; fewer edges are
/// linked one by one, without first looking for those that join trees. If all threads together need
/// more than `tolerated` times as long as one did for the first edges, one goes on alone; alone it
/// needs up to 1.7 times as long once trees have grown.
void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile = 1U << 19U, double tolerated = 1.6);

// Always inlined: GCC 12 takes a function that only prefetches for one without effect, and drops calls of it.
[[gnu::always_inline]] inline void prefetch(node const* parent, node x) { __builtin_prefetch(parent + x, 1); }

// Threads may link in one forest at the same time. With a single thread, these are plain loads and
// stores.
inline node parent_of(node* parent, node x) {
  return std::atomic_ref(parent[x]).load(std::memory_order_relaxed);
}
inline void set_parent(node* parent, node x, node to) {
  std::atomic_ref(parent[x]).store(to, std::memory_order_relaxed);
}
inline edge parents_of(node* parent, edge e) { return {parent_of(parent, e.u), parent_of(parent, e.v)}; }

/// One step towards one tree for both ends of `e`, whose parents are `above`: the node with the larger parent
/// is given to the smaller parent. If it was a root two trees have become one; otherwise its old parent must
/// follow (splicing), and `e` is what is left to unite. True if it needs another step. Both ends go on from
/// their parents; Rem keeps the other one where it is, which takes more steps.
///
/// Which of two random nodes has the larger parent cannot be predicted, and a wrong guess costs the processor
/// as much as ten such steps: so there is no branch.
inline bool step(node* parent, edge& e, edge above) {
  node const swap = -static_cast<node>(above.u < above.v);
  node const high = e.u ^ ((e.u ^ e.v) & swap);
  node const parent_high = above.u > above.v ? above.u : above.v;
  node const parent_low = above.u ^ above.v ^ parent_high;
  set_parent(parent, high, parent_low);  // what it was, if both are in one tree
  bool const together = above.u == above.v, was_root = parent_high == high;
  e = {parent_high, parent_low};
  return !together & !was_root;
}

/// Unites the ends of edges, many at a time. A step waits for two random accesses; so an edge that needs more
/// of them lines up behind others, and its nodes are on their way into the cache until its turn comes.
/// Twice as fast as one edge after the other on 2 million nodes.
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

  /// Whether most edges of the last sample lay inside of one tree.
  [[nodiscard]] bool mostly_together() const { return mostly_together_; }

  /// Nothing is linked for certain before.
  void finish() {
    while (waiting_ > 0) waiting_ = sweep(waiting_);
  }

 private:
  static constexpr std::size_t sample_size = 512, part_size = 3584, ahead = 32, turn = 32;

  // Every one of random edges takes its first step without a branch. If most edges lie inside one
  // tree (`skip`), these leave by a branch that is nearly always taken. With `count`, returns how
  // many edges had both ends in one tree at first sight; counting all would take 5 % longer.
  template <bool skip, bool count>
  std::size_t link_part(std::span<edge const> part, std::span<edge const> all) {
    auto* const parent = parent_;
    std::size_t joined = 0, waiting = waiting_;  // not in memory: atomic stores keep nothing in registers
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

  // One step for each that waits. Returns how many need another.
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

/// Links a forest into another one of the same nodes. A node that is a root there just becomes a child of its
/// label: a store beside the one before, since nodes ascend. Only a node that is a child in both forests
/// unites two trees: that takes steps at random nodes. In halves of N = M at random that is every second
/// link.
class forest_linker {
 public:
  explicit forest_linker(node* parent) : parent_(parent), links_(parent) {}

  /// label <= x. Without a branch: whether a node is a root cannot be predicted.
  void link(node x, node label) {
    node const above = parent_[x];
    auto const is_root = static_cast<node>(above == x);
    parent_[x] = above ^ ((above ^ label) & -is_root);
    between_[size_] = {above, label};
    size_ += 1 - is_root;
    if (size_ == between_.size()) flush();
  }
  /// For a loop that does the same for several nodes at once: the forest, and room for `most` edges between
  /// trees, which are counted by added().
  [[nodiscard]] node* parent() { return parent_; }
  [[nodiscard]] edge* room(std::size_t most) {
    if (size_ + most > between_.size()) flush();
    return between_.data() + size_;
  }
  void added(std::size_t count) { size_ += count; }

  /// Nothing is linked for certain before.
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

/// Every node its own tree.
inline void make_singletons(std::span<node> parent) {
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<node>(i);
}

/// Every node points to its root. In ascending order one look suffices: a parent comes before its children.
inline void compress(std::span<node> parent) {
  constexpr std::size_t ahead = 64;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    prefetch(parent.data(), parent[i + ahead < parent.size() ? i + ahead : parent.size() - 1]);
    parent[i] = parent[parent[i]];
  }
}

/// Bit i is flags[i], 0 or 1. A multiplication moves eight bytes into one.
inline std::uint64_t bits_of(std::array<std::uint8_t, 64> const& flags) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < flags.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &flags[i], sizeof eight);
    word |= (eight * 0x0102040810204080 >> 56) << i;
  }
  return word;
}

/// The label of a component with at least a sixteenth of the nodes, as a thousand of them tell, as in
/// Afforest (Sutton, Ben-Nun and Barak 2018); most_nodes, which labels no node, if there is none.
[[nodiscard]] node label_of_giant(std::span<node const> labels);

}  // namespace components
