// The two loops over labels that dominate packing and combining, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "edge.hpp"
#include "union_find.hpp"

namespace components {

/// Two bits for each of 64 nodes: labelled `giant`; other label than itself and not `giant`.
struct label_marks {
  std::uint64_t in_giant = 0, linked = 0;
};

/// All kernels give the same bytes.
struct label_kernel {
  char const* name;
  /// Marks 64 nodes from `first` on and writes the labels of the linked ones to `out`, `width`
  /// bytes each. Returns the end of the output; may write 64 bytes beyond it.
  std::byte* (*pack)(node const* labels, node first, node giant, unsigned width, std::byte* out,
                     label_marks& marks);
  /// Links those of 64 nodes from `first` on whose bit is set to their labels at `from`; may read
  /// 64 bytes beyond them. Returns false if a label is not smaller than its node; that node is not
  /// linked.
  bool (*link)(forest_linker& links, node first, std::uint64_t linked, unsigned width, std::byte const* from);
};

/// The kernels that run on this machine, the fastest last.
[[nodiscard]] std::span<label_kernel const> label_kernels();

/// Maximum number of bytes that a kernel accesses beyond its data.
inline constexpr std::size_t kernel_reach = 64;

#ifdef __x86_64__
[[nodiscard]] bool runs_avx512();
extern label_kernel const avx512_label_kernel;
#endif

}  // namespace components
