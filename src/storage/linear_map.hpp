// The field GF(2^8), matrices over it, and products of a matrix with shards. Every computation of a
// code has this form: parity from data, lost shards from present ones, and the effect of a changed
// block on the parity.
//
// Checkpoint code lives in the namespace skel::storage, because skel::checkpoint is a user-visible
// name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "skel/storage/kernel.hpp"

namespace skel::storage {

/// An element of the field. A byte is a polynomial over {0, 1}, taken modulo x^8 + x^4 + x^3 + x^2 + 1
/// (0x11d), with generator x = 2. A sum is an exclusive or. ISA-L, zfec, Backblaze,
/// klauspost/reedsolomon and redset use the same polynomial.
using element = std::uint8_t;

namespace field {

struct field_tables {
  std::array<element, 510> power{};  ///< 2^i, two periods, so that a sum of two logarithms needs no reduction
  std::array<std::uint8_t, 256> logarithm{};
};

constexpr field_tables make_field_tables() {
  constexpr unsigned polynomial = 0x11d;
  field_tables t;
  unsigned x = 1;
  for (unsigned i = 0; i < 255; ++i) {
    t.power[i] = t.power[i + 255] = static_cast<element>(x);
    t.logarithm[x] = static_cast<std::uint8_t>(i);
    x <<= 1U;
    if (x > 255) x ^= polynomial;
  }
  return t;
}

inline constexpr field_tables tables = make_field_tables();

}  // namespace field

[[nodiscard]] constexpr element multiply(element a, element b) noexcept {
  if (a == 0 || b == 0) return 0;
  return field::tables.power[field::tables.logarithm[a] + field::tables.logarithm[b]];
}

/// 1 / a; returns 0 for a = 0.
[[nodiscard]] constexpr element inverse(element a) noexcept {
  return a == 0 ? element{0} : field::tables.power[255U - field::tables.logarithm[a]];
}

/// a^n, with 0^0 = 1.
[[nodiscard]] constexpr element power(element a, unsigned n) noexcept {
  if (n == 0) return 1;
  if (a == 0) return 0;
  return field::tables.power[field::tables.logarithm[a] * (n % 255U) % 255U];
}

/// A dense matrix of field elements.
class matrix {
 public:
  matrix() = default;
  /// A matrix of zeros.
  matrix(std::size_t rows, std::size_t columns);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] element& at(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  [[nodiscard]] element at(std::size_t row, std::size_t column) const {
    return cells_[row * columns_ + column];
  }
  [[nodiscard]] std::span<element const> row(std::size_t row) const {
    return std::span(cells_).subspan(row * columns_, columns_);
  }

  friend bool operator==(matrix const&, matrix const&) = default;

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<element> cells_;
};

/// The construction of the parity rows. With each of them, any m of the m + k rows of [identity;
/// parity] are independent for all m + k <= 256. An unreduced Vandermonde matrix below the identity
/// lacks this property (ISA-L's gf_gen_rs_matrix): with 6 data and 5 parity shards, some losses of
/// 5 shards are fatal.
enum class construction : std::uint8_t {
  vandermonde,  ///< V inv(V_top), V of the points 0, 1, 2, …: Backblaze, klauspost/reedsolomon, redset
  cauchy,  ///< 1 / (i + j) for row i = m, m + 1, … and column j: ISA-L's gf_gen_cauchy1_matrix, klauspost
  zfec,    ///< V inv(V_top), V of the points 0, 1, 2, 4, 8, … (powers of the generator): zfec, Rizzo, fecpp
};

/// The products of an element with 0, 1, … 15 and with 0, 16, … 240.
using nibble_table = std::array<element, 32>;

/// Elements in the formats that kernels read: as 8 x 8 matrices of bits for GF2P8AFFINEQB, and as tables for
/// look-ups.
struct factor_view {
  std::uint64_t const* bits = nullptr;
  nibble_table const* nibbles = nullptr;

  [[nodiscard]] factor_view from(std::size_t first) const { return {bits + first, nibbles + first}; }
};

class factor_list {
 public:
  factor_list() = default;
  explicit factor_list(std::span<element const> elements);

  /// Null pointers if the list is empty.
  [[nodiscard]] factor_view view() const { return {bits_.data(), nibbles_.data()}; }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<nibble_table> nibbles_;
};

/// A matrix prepared for application to shards. Construction costs 41 bytes and a few nanoseconds per cell.
/// Application is const and thread-safe.
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

 private:
  void run(kernel with, std::size_t first_column, std::span<std::byte const* const> sources,
           std::span<std::byte* const> outputs, std::size_t size, bool add) const;

  matrix cells_;
  bool plain_ = true;    // all cells are 1: sums without products
  factor_list factors_;  // the cells, by column
};

/// Maps the m data shards of a code to its k parity shards.
[[nodiscard]] linear_map encoder(code const& c);
/// Maps m available shards to the wanted ones, both given by number (data 0 … m - 1, parity m … m +
/// k - 1). Throws std::invalid_argument unless `available` holds m different shards of the code.
[[nodiscard]] linear_map recovery(code const& c, std::span<std::size_t const> available,
                                  std::span<std::size_t const> wanted);

}  // namespace skel::storage
