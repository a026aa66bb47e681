// The problem: a range of the edges of a graph.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "big_array.hpp"
#include "edge.hpp"
#include "generate.hpp"
#include "skel/transfer.hpp"

namespace components {

/// Edges in memory: all of a graph, or those from number `first` on. Edges of a graph given by a
/// formula are generated if they are not in memory.
struct edge_array {
  big_array<edge> edges;
  std::uint64_t first = 0;
  std::optional<graph_spec> formula;
};

/// Edges first ... last - 1 of a graph. Cheap to copy; the copies share the edges.
class edge_part {
 public:
  edge_part() = default;
  edge_part(std::shared_ptr<edge_array const> edges, std::uint64_t first, std::uint64_t last)
      : array_(std::move(edges)), first_(first), last_(last) {}
  /// The part that contains all of these edges.
  explicit edge_part(big_array<edge> edges);

  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return last_ - first_; }

  /// A view of the edges. Generates those of a formula if they are not in memory. Throws
  /// skel::error if edges are neither in memory nor given by a formula.
  class view {
   public:
    [[nodiscard]] std::span<edge const> span() const noexcept { return edges_; }

   private:
    friend edge_part;
    std::span<edge const> edges_;
    std::shared_ptr<void const> owner_;
  };
  [[nodiscard]] view edges() const;

  /// The first and the second half; an odd edge belongs to the first, as in [Hyper, §6].
  [[nodiscard]] std::array<edge_part, 2> halves() const { return split(size() - size() / 2); }
  /// The first part has `count` edges.
  [[nodiscard]] std::array<edge_part, 2> split(std::uint64_t count) const;

 private:
  friend struct skel::transfer_traits<edge_part>;
  std::shared_ptr<edge_array const> array_;
  std::uint64_t first_ = 0, last_ = 0;
};

}  // namespace components

/// Only the edges of the part are sent; for a generated graph, only its parameters.
template <>
struct skel::transfer_traits<components::edge_part> {
  static void pack(components::edge_part const& part, std::vector<std::byte>& out);
  static components::edge_part unpack(std::span<std::byte const>& in);
};
