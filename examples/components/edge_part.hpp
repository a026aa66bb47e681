// The problem: a range of the edges of a graph.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "big_array.hpp"
#include "edge.hpp"
#include "generate.hpp"
#include "graph_file.hpp"
#include "skel/transfer.hpp"

namespace components {

/// A file that is divided into shares.
struct divided_file {
  std::string path;
  node_limit nodes;
  std::vector<std::uint64_t> starts;  ///< the number of edges before each share, and of all
};

/// Edges in memory: all of a graph, or those from `first` on. Other edges are generated if the
/// graph is given by a formula, and read if it is a file.
struct edge_array {
  big_array<edge> edges;
  std::uint64_t first = 0;  ///< number of an edge, or of the share of a file that is in memory
  std::optional<graph_spec> formula{};
  std::optional<divided_file> file{};
};

/// Edges first ... last - 1 of a graph, or these shares of a file. Cheap to copy; the copies share
/// the edges.
class edge_part {
 public:
  edge_part() = default;
  edge_part(std::shared_ptr<edge_array const> edges, std::uint64_t first, std::uint64_t last)
      : array_(std::move(edges)), first_(first), last_(last) {}
  /// The part that contains all of these edges.
  explicit edge_part(big_array<edge> edges);

  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// The number of edges.
  [[nodiscard]] std::uint64_t size() const noexcept;

  /// A view of the edges. Generates or reads those that are not in memory. Throws skel::error if
  /// they come from neither formula nor file, or if the file has changed.
  class view {
   public:
    [[nodiscard]] std::span<edge const> span() const noexcept { return edges_; }

   private:
    friend edge_part;
    std::span<edge const> edges_;
    std::shared_ptr<void const> owner_;
  };
  [[nodiscard]] view edges() const;
  /// Gives the sink the edges in their order, without holding those that are not in memory.
  void stream(edge_sink const& sink) const;

  /// What can be divided: edges, or shares of a file.
  [[nodiscard]] std::uint64_t units() const noexcept { return last_ - first_; }
  /// The first and the second half; an odd unit belongs to the first, as in [Hyper, §6].
  [[nodiscard]] std::array<edge_part, 2> halves() const { return split(units() - units() / 2); }
  /// The first part has `count` units.
  [[nodiscard]] std::array<edge_part, 2> split(std::uint64_t count) const;

 private:
  [[nodiscard]] bool in_memory() const;
  void read_again(edge_sink const& sink) const;
  friend struct skel::transfer_traits<edge_part>;
  std::shared_ptr<edge_array const> array_;
  std::uint64_t first_ = 0, last_ = 0;
};

}  // namespace components

/// Only the edges of the part are sent; for a generated graph, only its parameters.
template <>
struct skel::transfer_traits<components::edge_part> {
  static constexpr bool compared_on_request = true;  // a rank has only its part in memory
  static void pack(components::edge_part const& part, std::vector<std::byte>& out);
  static void pack_compared(components::edge_part const& part, std::vector<std::byte>& out);
  static components::edge_part unpack(std::span<std::byte const>& in);
};
