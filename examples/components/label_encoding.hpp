// The labels of a forest as bytes, in the shortest of four exact forms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "edge.hpp"
#include "label_kernel.hpp"

namespace skel::components {

/// Which nodes have another label than themselves, and which one. Where 3 of 4 nodes do not, pairs win; where
/// most have the same, the bitmap; in between, where the halves of a sparse random graph are, marks.
enum class encoding : std::uint8_t {
  dense,  ///< every label, 4 bytes each: the paper's vector of roots
  pairs,  ///< of each node with another label than itself: the gap to the one before, and the label; varints
  giant,  ///< a bit for each node that is in one large component, then pairs for the rest
  marks,  ///< a bit for each node with another label than itself, then their labels in as few bytes as fit
};
[[nodiscard]] std::string_view name_of(encoding e);

/// How many bytes each form would take, exactly, indexed by encoding. UINT64_MAX: not looked at, it
/// cannot be the shortest.
struct encoded_sizes {
  std::array<std::uint64_t, 4> bytes;
  node giant = 0;            ///< label of the large component
  std::uint64_t linked = 0;  ///< nodes with another label than themselves
  std::uint64_t rest = 0;    ///< those of them outside of the large component
  [[nodiscard]] encoding cheapest() const;
  [[nodiscard]] std::uint64_t operator[](encoding e) const { return bytes[static_cast<std::size_t>(e)]; }
};
[[nodiscard]] encoded_sizes sizes_of(std::span<node const> labels,
                                     label_kernel const& kernel = fastest_label_kernel());

/// Appends sizes[form] bytes. Labels are those of a compressed forest: label[label[x]] == label[x] <= x.
void encode(std::span<node const> labels, encoding form, encoded_sizes const& sizes,
            std::vector<std::byte>& out, label_kernel const& kernel = fastest_label_kernel());

/// Appends the length of the shortest form as a varint, and that form. It goes over the labels once where
/// some of them tell that marks are the shortest: they are written while all lengths are counted. Otherwise
/// twice.
void pack_shortest(std::span<node const> labels, std::vector<std::byte>& out,
                   label_kernel const& kernel = fastest_label_kernel());

/// Calls `link` with edges (node, label) that make the forest, some thousands at a time, in ascending order
/// of nodes within each component. Throws protocol_error for bytes that encode() did not write for `nodes`
/// nodes.
void decode(std::span<std::byte const> bytes, std::uint64_t nodes,
            std::function<void(std::span<edge const>)> const& link);

}  // namespace skel::components
