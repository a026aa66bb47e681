// Products of a matrix over GF(2^8) with shards: all that a code computes, be it parity from data, lost
// shards from those that are left, or what a change of one block means for the parity.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "skel/storage/kernel.hpp"
#include "storage/matrix.hpp"

namespace skel::storage {

/// A matrix, ready to be applied to shards. Making one costs 41 bytes and well below a microsecond per cell;
/// applying it is const and may be done by several threads at once.
class linear_map {
 public:
  explicit linear_map(matrix m);

  [[nodiscard]] matrix const& cells() const noexcept { return cells_; }

  /// outputs[i] = sum over j of cells(i, j) sources[j], each of `size` bytes. There are as many sources as
  /// columns, and as many outputs as rows; outputs overlap neither each other nor sources. Any alignment will
  /// do; multiples of 64 bytes are fastest.
  void apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs, std::size_t size,
             kernel with = default_kernel()) const;

  /// outputs[i] += cells(i, column) difference: what is left to do in parity when the source of that column
  /// has changed by `difference` (old + new).
  void add_column(std::size_t column, std::byte const* difference, std::span<std::byte* const> outputs,
                  std::size_t size, kernel with = default_kernel()) const;

  /// What kernels read: the products of a cell with 0, 1, … 15 and with 0, 16, … 240.
  using nibble_table = std::array<element, 32>;

 private:
  void run(kernel with, std::size_t first_column, std::span<std::byte const* const> sources,
           std::span<std::byte* const> outputs, std::size_t size, bool add) const;

  matrix cells_;
  bool plain_ = true;  // all cells are 1: a sum, no products
  // Column by column; the cell as an 8 x 8 matrix of bits, for GF2P8AFFINEQB, and as tables, for look-ups.
  std::vector<std::uint64_t> bits_;
  std::vector<nibble_table> nibbles_;
};

/// From the m data shards of a code to its k parity shards.
[[nodiscard]] linear_map encoder(code const& c);
/// From m shards that are there to those that are wanted, both by number (data 0 … m - 1, parity m … m + k
/// - 1). std::invalid_argument unless `available` are m different shards of the code.
[[nodiscard]] linear_map recovery(code const& c, std::span<std::size_t const> available,
                                  std::span<std::size_t const> wanted);

}  // namespace skel::storage
