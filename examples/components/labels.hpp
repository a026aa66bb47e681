// The solution: the components that some edges make, as a forest that is at most two deep, and how it
// travels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "big_array.hpp"
#include "edge.hpp"
#include "label_kernel.hpp"
#include "skel/transfer.hpp"

namespace components {

/// The form of labels in a message: short, or always the vector of N roots as in [Hyper, §6].
enum class exchange : std::uint8_t { cheapest, dense };

/// Appends the labels of a compressed forest, label[label[x]] == label[x] <= x, as bytes, all exact:
///
///   form (exchange): 1 byte, nodes: varint, then
///   dense     nodes x 4 bytes
///   cheapest  label of one large component: 4 bytes, most_nodes if there is none; for every 4,096 nodes
///             - only if there is one: a bit for each node that is in it,
///             - a bit for each of the words that follow, which leaves out those that are 0,
///             - a bit for each other node with another label than itself,
///             - the labels of these, in as few bytes each as hold every node of the graph.
///
/// Bits come in words of 8 bytes. Little-endian like everything on skel's wires.
void encode(std::span<node const> labels, exchange form, std::vector<std::byte>& out,
            label_kernel const& kernel = label_kernels().back());

/// Links the forest of a message of encode() into that of `parent`: parent[x] <= x, and so it stays. Throws
/// protocol_error for bytes that are no forest of as many nodes; then some is linked.
void join(std::span<std::byte const> message, std::span<node> parent,
          label_kernel const& kernel = label_kernels().back());

/// Not initialised. Throws skel::error `out of memory: labels of ...`.
[[nodiscard]] big_array<node> memory_for_labels(std::uint64_t nodes);

/// Labels of all nodes, or the message that holds them, which is linked into other labels later
/// without a second vector of N. A copy is a copy.
class roots {
 public:
  roots() = default;
  /// Compressed: label[label[x]] == label[x] <= x.
  roots(big_array<node> labels, exchange how)
      : nodes_(labels.size()), how_(how), labels_(std::move(labels)) {}

  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// True as long as there are no labels but the bytes of a message.
  [[nodiscard]] bool encoded() const noexcept { return labels_.empty() && nodes_ > 0; }
  /// The label of every node; they are made if there are none yet.
  [[nodiscard]] std::span<node const> labels();

  /// The components of the edges of both. The same bytes whichever is first, and however many are combined in
  /// whatever order. Reuses the labels of one of them.
  [[nodiscard]] static roots combine(roots a, roots b);

 private:
  friend struct skel::transfer_traits<roots>;
  void link_into(std::span<node> parent) const;

  std::uint64_t nodes_ = 0;
  exchange how_ = exchange::cheapest;
  big_array<node> labels_;              // either these,
  std::span<std::byte const> message_;  // or what encode() wrote,
  std::shared_ptr<void const> owner_;   // which stays as long as this
};

}  // namespace components

/// Leaves the bytes as they are until they are combined.
template <>
struct skel::transfer_traits<components::roots> {
  static void pack(components::roots const& r, std::vector<std::byte>& out);
  static components::roots unpack(std::span<std::byte const>& in);
  static components::roots unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
};
