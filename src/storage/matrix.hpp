// Matrices over GF(2^8), and the generator matrices of codes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "storage/field.hpp"

namespace skel::storage {

/// A dense matrix of field elements.
class matrix {
 public:
  matrix() = default;
  /// A matrix of zeros.
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

  friend bool operator==(matrix const&, matrix const&) = default;

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<element> cells_;
};

/// The product a b; a must have as many columns as b has rows.
[[nodiscard]] matrix operator*(matrix const& a, matrix const& b);

/// Inverts by Gauss-Jordan elimination. Returns nothing if the matrix is singular.
[[nodiscard]] std::optional<matrix> inverse(matrix const& square);

/// The construction of the parity rows. With each of them, any m of the m + k rows of [identity;
/// parity] are independent for all m + k <= 256. An unreduced Vandermonde matrix below the identity
/// lacks this property (ISA-L's gf_gen_rs_matrix): with 6 data and 5 parity shards, some losses of
/// 5 shards are fatal.
enum class construction : std::uint8_t {
  vandermonde,  ///< V inv(V_top), V of the points 0, 1, 2, …: Backblaze, klauspost/reedsolomon, redset
  cauchy,  ///< 1 / (i + j) for row i = m, m + 1, … and column j: ISA-L's gf_gen_cauchy1_matrix, klauspost
  zfec,    ///< V inv(V_top), V of the points 0, 1, 2, 4, 8, … (powers of the generator): zfec, Rizzo, fecpp
};

/// The k x m matrix that maps m data shards to the k parity shards. The first m shards of the code
/// are the data itself (Malluhi and Johnston 1998). Throws usage_error unless m >= 1 and m + k <=
/// 256.
[[nodiscard]] matrix parity_matrix(construction how, std::size_t data, std::size_t parity);

/// The parity matrix of a code.
[[nodiscard]] matrix parity_of(code const& c);

}  // namespace skel::storage
