// Matrices over GF(2^8), and those that generate codes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "storage/field.hpp"

namespace skel::storage {

/// Rows of field elements. Regular: copied, compared.
class matrix {
 public:
  matrix() = default;
  /// Of zeros.
  matrix(std::size_t rows, std::size_t columns);
  [[nodiscard]] static matrix identity(std::size_t size);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] element& at(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  [[nodiscard]] element at(std::size_t row, std::size_t column) const {
    return cells_[row * columns_ + column];
  }
  [[nodiscard]] std::span<element const> row(std::size_t row) const {
    return std::span(cells_).subspan(row * columns_, columns_);
  }
  /// The rows named, in that order.
  [[nodiscard]] matrix select(std::span<std::size_t const> rows) const;

  friend bool operator==(matrix const&, matrix const&) = default;

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<element> cells_;
};

/// a b; the columns of a are as many as the rows of b.
[[nodiscard]] matrix operator*(matrix const& a, matrix const& b);

/// By Gauss-Jordan elimination; nothing where the square matrix is singular.
[[nodiscard]] std::optional<matrix> inverse(matrix const& square);

/// How the rows of parity are made. All three leave any m of the m + k rows of [identity; parity] independent
/// for all m + k <= 256, which the identity over a Vandermonde matrix as it is does not (ISA-L's
/// gf_gen_rs_matrix: 6 data and 5 parity shards can already be lost with 5 of them).
enum class construction : std::uint8_t {
  vandermonde,  ///< V inv(V_top), V of the points 0, 1, 2, …: Backblaze, klauspost/reedsolomon, redset
  cauchy,  ///< 1 / (i + j) for row i = m, m + 1, … and column j: ISA-L's gf_gen_cauchy1_matrix, klauspost
  zfec,    ///< V inv(V_top), V of the points 0, 1, 2, 4, 8, … (powers of the generator): zfec, Rizzo, fecpp
};

/// The k x m matrix whose product with m data shards are the k parity shards (Malluhi and Johnston 1998: the
/// first m shards of the code are the data). m >= 1, m + k <= 256; otherwise usage_error.
[[nodiscard]] matrix parity_matrix(construction how, std::size_t data, std::size_t parity);

/// That of a code.
[[nodiscard]] matrix parity_of(code const& c);

}  // namespace skel::storage
