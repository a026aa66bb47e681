// Links the labels of one forest into another forest of the same nodes.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "edge.hpp"
#include "union_find.hpp"

namespace skel::components {

/// A node that is a root where it is linked just becomes a child of its label: a store beside the one before,
/// since nodes ascend. Only a node that is a child in both forests unites two trees: that takes steps at
/// random nodes. In halves of N = M at random that is every second link.
class forest_link {
 public:
  explicit forest_link(node* parent) : parent_(parent), links_(parent) {}

  /// Edges (node, label), label < node. Without a branch: whether a node is a root is not to be predicted.
  void add(std::span<edge const> edges) {
    for (auto const& e : edges) {
      node const above = parent_[e.u];
      auto const is_root = static_cast<node>(above == e.u);
      parent_[e.u] = above ^ ((above ^ e.v) & -is_root);
      between_[size_] = {above, e.v};
      size_ += 1 - is_root;
      if (size_ == most) flush();
    }
  }
  /// Room for `more` edges between trees, to be told by added(). more <= most.
  [[nodiscard]] edge* room(std::size_t more) {
    if (size_ + more > most) flush();
    return between_.data() + size_;
  }
  void added(std::size_t count) { size_ += count; }

  /// Nothing is linked for certain before.
  void finish() {
    flush();
    links_.finish();
  }

 private:
  static constexpr std::size_t most = 4096;
  void flush() {
    links_.link({between_.data(), size_});
    size_ = 0;
  }

  node* parent_;
  linker links_;
  std::size_t size_ = 0;
  std::array<edge, most> between_;
};

}  // namespace skel::components
