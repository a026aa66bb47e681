// Products of a matrix over GF(2^8) with shards. Every computation of a code has this form: parity
// from data, lost shards from present ones, and the effect of a changed block on the parity.
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

/// A matrix prepared for application to shards. Construction costs 41 bytes and well below a
/// microsecond per cell. Application is const and thread-safe.
class linear_map {
 public:
  explicit linear_map(matrix m);

  [[nodiscard]] matrix const& cells() const noexcept { return cells_; }

  /// Computes outputs[i] = sum over j of cells(i, j) sources[j], each of `size` bytes. Expects one
  /// source per column and one output per row; outputs must overlap neither each other nor sources.
  /// Any alignment works; multiples of 64 bytes are fastest.
  void apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs, std::size_t size,
             kernel with = default_kernel()) const;

  /// Computes outputs[i] += cells(i, column) difference. This updates the parity after the source
  /// of that column has changed by `difference` (old + new).
  void add_column(std::size_t column, std::byte const* difference, std::span<std::byte* const> outputs,
                  std::size_t size, kernel with = default_kernel()) const;

  /// The format that kernels read: the products of a cell with 0, 1, … 15 and with 0, 16, … 240.
  using nibble_table = std::array<element, 32>;

 private:
  void run(kernel with, std::size_t first_column, std::span<std::byte const* const> sources,
           std::span<std::byte* const> outputs, std::size_t size, bool add) const;

  matrix cells_;
  bool plain_ = true;  // all cells are 1: sums without products
  // By column. Each cell as an 8 x 8 matrix of bits for GF2P8AFFINEQB, and as tables for look-ups.
  std::vector<std::uint64_t> bits_;
  std::vector<nibble_table> nibbles_;
};

/// Maps the m data shards of a code to its k parity shards.
[[nodiscard]] linear_map encoder(code const& c);
/// Maps m available shards to the wanted ones, both given by number (data 0 … m - 1, parity m … m +
/// k - 1). Throws std::invalid_argument unless `available` holds m different shards of the code.
[[nodiscard]] linear_map recovery(code const& c, std::span<std::size_t const> available,
                                  std::span<std::size_t const> wanted);

}  // namespace skel::storage
