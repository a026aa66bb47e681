// The solution: the components of some edges as a forest of depth at most two, and its form in
// messages.
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

/// Appends the labels of a compressed forest, label[label[x]] == label[x] <= x, losslessly as
/// bytes:
///
///   form (exchange): 1 byte, nodes: varint, then
///   dense     nodes x 4 bytes
///   cheapest  label of one large component: 4 bytes, most_nodes if there is none; for every 4,096 nodes
///             - only if there is one: a bit for each node, set if the node is in it,
///             - a bit for each of the words that follow; words that are 0 are omitted,
///             - a bit for each other node whose label is not itself,
///             - the labels of these, each in the least number of bytes that holds every node.
///
/// Bits are stored in words of 8 bytes, little-endian like all of skel's messages.
void encode(std::span<node const> labels, exchange form, std::vector<std::byte>& out,
            label_kernel const& kernel = label_kernels().back());

/// Links the forest of an encoded message into that of `parent`; requires and preserves parent[x]
/// <= x. Throws protocol_error if the bytes are not a forest of as many nodes; `parent` may then be
/// partly linked.
void join(std::span<std::byte const> message, std::span<node> parent,
          label_kernel const& kernel = label_kernels().back());

/// Returns uninitialised memory. Throws skel::error `out of memory: labels of ...`.
[[nodiscard]] big_array<node> memory_for_labels(std::uint64_t nodes);

/// Labels of all nodes, or a message that contains them and is later linked into other labels
/// without a second vector of N. Copies are independent.
class roots {
 public:
  roots() = default;
  /// Requires a compressed forest: label[label[x]] == label[x] <= x.
  roots(big_array<node> labels, exchange how)
      : nodes_(labels.size()), how_(how), labels_(std::move(labels)) {}

  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// Whether the object still holds the bytes of a message instead of labels.
  [[nodiscard]] bool encoded() const noexcept { return labels_.empty() && nodes_ > 0; }
  /// The label of every node; decodes a message on first use.
  [[nodiscard]] std::span<node const> labels();

  /// Combines the components of both. The resulting bytes do not depend on the order of arguments
  /// and combinations. Reuses the labels of one argument.
  [[nodiscard]] static roots combine(roots a, roots b);

 private:
  friend struct skel::transfer_traits<roots>;
  void link_into(std::span<node> parent) const;

  std::uint64_t nodes_ = 0;
  exchange how_ = exchange::cheapest;
  big_array<node> labels_;              // either labels,
  std::span<std::byte const> message_;  // or an encoded message
  std::shared_ptr<void const> owner_;   // keeps the message alive
};

}  // namespace components

/// Keeps received bytes encoded until they are combined.
template <>
struct skel::transfer_traits<components::roots> {
  static void pack(components::roots const& r, std::vector<std::byte>& out);
  static components::roots unpack(std::span<std::byte const>& in);
  static components::roots unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
};
