// What sizes, encoder and decoder of labels must agree about.
//
//   form, nodes: varint, then
//   dense   nodes x 4 bytes
//   pairs   count: varint; count x (node - one more than the node before: varint, label: varint)
//   giant   count: varint, label: varint; 1 bit per node, 64 to a word; count pairs as above
//   marks   count: varint; 1 bit per node, 64 to a word; count labels of fixed_width bytes
//
// Little-endian like everything on skel's wires.
#pragma once

#include <cstdint>

namespace skel::components {

constexpr unsigned varint_size(std::uint64_t value) {
  unsigned size = 1;
  for (; value >= 128; value >>= 7) ++size;
  return size;
}

/// Bytes of the dense form.
constexpr std::uint64_t dense_size(std::uint64_t nodes) { return 1 + varint_size(nodes) + 4 * nodes; }

/// Bytes of a bit for each node, in whole words.
constexpr std::uint64_t bitmap_size(std::uint64_t nodes) { return (nodes + 63) / 64 * 8; }

/// Bytes that hold every node of a graph with so many.
constexpr unsigned fixed_width(std::uint64_t nodes) {
  return nodes <= 1U << 8 ? 1 : nodes <= 1U << 16 ? 2 : nodes <= 1U << 24 ? 3 : 4;
}

}  // namespace skel::components
