// The solution: the components that some edges make, as a forest that is at most two deep.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "big_array.hpp"
#include "edge.hpp"
#include "label_encoding.hpp"
#include "skel/transfer.hpp"

namespace skel::components {

/// What is sent to a partner: the shortest form, or always the vector of N roots as in the paper.
enum class exchange : std::uint8_t { cheapest, dense };

/// Not initialised. Throws skel::error `out of memory: labels of ...`.
[[nodiscard]] big_array<node> memory_for_labels(std::uint64_t nodes);

/// Labels of `nodes` nodes, or what has come from another rank and is only linked into labels later: nobody
/// needs a second vector of N. Movable; a copy is a copy.
class roots {
 public:
  roots() = default;
  /// Compressed: label[label[x]] == label[x] <= x.
  roots(big_array<node> labels, exchange how)
      : nodes_(labels.size()), how_(how), labels_(std::move(labels)) {}
  /// One edge; needs no memory for the other nodes.
  roots(edge e, std::uint64_t nodes, exchange how);
  /// No edges.
  roots(std::uint64_t nodes, exchange how);

  roots(roots&&) noexcept = default;
  roots& operator=(roots&&) noexcept = default;
  roots(roots const& other);
  roots& operator=(roots const& other);
  ~roots() = default;

  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// True as long as there are no labels but the bytes of a message.
  [[nodiscard]] bool encoded() const noexcept { return labels_.empty() && nodes_ > 0; }
  /// The label of every node; they are made if there are none yet. With --exchange cheapest and otherwise.
  [[nodiscard]] std::span<node const> labels();

  /// The components of the edges of both. The same bytes whichever is first, and however many are combined in
  /// whatever order. Reuses the labels of one of them.
  [[nodiscard]] static roots combine(roots a, roots b);

 private:
  friend struct transfer_traits<roots>;
  void keep(std::vector<std::byte> message);
  void link_into(std::span<node> parent) const;

  std::uint64_t nodes_ = 0;
  exchange how_ = exchange::cheapest;
  big_array<node> labels_;              // either these,
  std::span<std::byte const> message_;  // or a message of label_encoding.hpp,
  std::shared_ptr<void const> owner_;   // which stays as long as this
};

}  // namespace skel::components

/// Chooses the form, and leaves the bytes as they are until they are combined.
template <>
struct skel::transfer_traits<skel::components::roots> {
  static void pack(components::roots const& r, std::vector<std::byte>& out);
  static components::roots unpack(std::span<std::byte const>& in);
  static components::roots unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner);
};
