// The loops over labels and edges that linking, packing and combining spend their time in, for each
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "edge.hpp"

namespace skel::components {

/// All kernels do the same, to the byte.
struct label_kernel {
  std::string_view name;
  bool (*runs_here)();

  /// Of the nodes first ... first + 64 * words - 1, whose labels are given, a bit each: those with another
  /// label than themselves, and those with the label `giant`.
  void (*mark)(node const* labels, node first, std::size_t words, node giant, std::uint64_t* linked,
               std::uint64_t* in_giant);
  /// Bytes that labels of linked nodes take as varints beyond one each; the labels are those of the nodes
  /// from `first` on.
  std::uint64_t (*more_label_bytes)(std::span<node const> labels, node first);
  /// Writes the labels of those of the first 64 nodes whose bit is set, `width` bytes each, and none after
  /// `end`. Returns where it has stopped.
  std::byte* (*put)(std::span<node const> labels, std::uint64_t bits, unsigned width, std::byte* out,
                    std::byte const* end);
  /// Links the forest of a message of encode() into that of `parent`: parent[x] <= x, and so it stays. Throws
  /// protocol_error as decode() does; then some is linked.
  void (*join)(std::span<std::byte const> message, std::span<node> parent);
  /// Copies the edges that have not both ends in a set of nodes, which has a bit each, to `rest`, where there
  /// is room for edges.size() + 8. Returns how many these are.
  std::size_t (*leaving)(std::span<edge const> edges, std::uint64_t const* set, edge* rest);
};

/// Those that run here, the fastest last.
[[nodiscard]] std::vector<label_kernel const*> label_kernels();
[[nodiscard]] label_kernel const& fastest_label_kernel();

extern label_kernel const portable_label_kernel;
#ifdef __x86_64__
extern label_kernel const avx512_label_kernel;
#endif

}  // namespace skel::components
