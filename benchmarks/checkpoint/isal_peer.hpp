// ISA-L prepared for the same code; like skel's, its tables are made in advance.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

enum class isal_kernel { best, avx2 };

[[nodiscard]] bool have_isal() noexcept;
/// Whether ISA-L's own avx2 functions can be called by name.
[[nodiscard]] bool have_isal_avx2() noexcept;

/// The m + k rows of the code.
[[nodiscard]] std::vector<unsigned char> isal_generator(int m, int k);

class isal_product {
 public:
  /// Computes the parity of m data shards.
  [[nodiscard]] static isal_product encode(int m, int k);
  /// Restores the first min(m, k) data shards from the others and as many parity shards as
  /// necessary, in the order of their numbers.
  [[nodiscard]] static isal_product decode(int m, int k);
  /// The same for the first `lost` data shards; inverts a matrix.
  [[nodiscard]] static isal_product decode(int m, std::vector<unsigned char> const& cells, int lost);

  void run(isal_kernel which, std::span<std::byte const* const> sources, std::span<std::byte* const> outputs,
           std::size_t size) const;

 private:
  isal_product(int sources, int outputs, std::vector<unsigned char> cells);
  int sources_, outputs_;
  std::vector<unsigned char> tables_;
};

}  // namespace bench
