// The two loops over labels that packing and combining spend their time in, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "edge.hpp"
#include "union_find.hpp"

namespace components {

/// Which of 64 nodes are labelled `giant`, and which others have another label than themselves: a bit each.
struct label_marks {
  std::uint64_t in_giant = 0, linked = 0;
};

/// All kernels do the same, to the byte.
struct label_kernel {
  char const* name;
  /// Marks 64 nodes from `first` on, and writes the labels of the linked ones, `width` bytes each, to `out`:
  /// returns where they end, and may write 64 bytes more.
  std::byte* (*pack)(node const* labels, node first, node giant, unsigned width, std::byte* out,
                     label_marks& marks);
  /// Links those of 64 nodes from `first` on whose bit is set to their labels, which are at `from`; up to 64
  /// bytes more are read. Returns false if a label is not smaller than its node: that one is not linked.
  bool (*link)(forest_linker& links, node first, std::uint64_t linked, unsigned width, std::byte const* from);
};

/// Those that run here, the fastest last.
[[nodiscard]] std::span<label_kernel const> label_kernels();

/// Beyond what a kernel packs or links.
inline constexpr std::size_t kernel_reach = 64;

#ifdef __x86_64__
[[nodiscard]] bool runs_avx512();
extern label_kernel const avx512_label_kernel;
#endif

}  // namespace components
