#include "storage/linear_map.hpp"

#include <stdexcept>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/autotune.hpp"

namespace skel::storage {

namespace {

// For GF2P8AFFINEQB: bit i of the product is the parity of operand AND byte 7 - i of the matrix.
// Column j of the matrix is cell * 2^j.
std::uint64_t bits_of(element cell) {
  std::uint64_t bits = 0;
  for (unsigned j = 0; j < 8; ++j) {
    auto const column = multiply(cell, static_cast<element>(1U << j));
    for (unsigned i = 0; i < 8; ++i) bits |= std::uint64_t{(column >> i) & 1U} << (8 * (7 - i) + j);
  }
  return bits;
}

linear_map::nibble_table nibbles_of(element cell) {
  linear_map::nibble_table table{};
  for (unsigned i = 0; i < 16; ++i) {
    table[i] = multiply(cell, static_cast<element>(i));
    table[16 + i] = multiply(cell, static_cast<element>(16 * i));
  }
  return table;
}

}  // namespace

// --- matrix

matrix::matrix(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), cells_(rows * columns) {}

matrix matrix::identity(std::size_t size) {
  matrix m(size, size);
  for (std::size_t i = 0; i < size; ++i) m.at(i, i) = 1;
  return m;
}

matrix operator*(matrix const& a, matrix const& b) {
  matrix product(a.rows(), b.columns());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t k = 0; k < a.columns(); ++k)
      for (std::size_t j = 0; j < b.columns(); ++j) product.at(i, j) ^= multiply(a.at(i, k), b.at(k, j));
  return product;
}

namespace {

void swap_rows(matrix& m, std::size_t a, std::size_t b) {
  for (std::size_t j = 0; j < m.columns(); ++j) std::swap(m.at(a, j), m.at(b, j));
}

void scale_row(matrix& m, std::size_t row, element factor) {
  for (std::size_t j = 0; j < m.columns(); ++j) m.at(row, j) = multiply(m.at(row, j), factor);
}

void add_row(matrix& m, std::size_t to, std::size_t from, element factor) {
  for (std::size_t j = 0; j < m.columns(); ++j) m.at(to, j) ^= multiply(m.at(from, j), factor);
}

}  // namespace

std::optional<matrix> inverse(matrix const& square) {
  auto const n = square.rows();
  matrix left = square, right = matrix::identity(n);
  for (std::size_t column = 0; column < n; ++column) {
    auto pivot = column;
    while (pivot < n && left.at(pivot, column) == 0) ++pivot;
    if (pivot == n) return std::nullopt;
    if (pivot != column) swap_rows(left, pivot, column), swap_rows(right, pivot, column);
    auto const factor = inverse(left.at(column, column));
    scale_row(left, column, factor);
    scale_row(right, column, factor);
    for (std::size_t row = 0; row < n; ++row) {
      auto const rest = left.at(row, column);
      if (row == column || rest == 0) continue;
      add_row(left, row, column, rest);
      add_row(right, row, column, rest);
    }
  }
  return right;
}

namespace {

// The points 0, 1, 2, 3, … or 0, 1, g, g^2, …
element point(construction how, std::size_t i) {
  if (how == construction::vandermonde || i == 0) return static_cast<element>(i);
  return power(2, static_cast<unsigned>(i - 1));
}

// Any m rows of V form a Vandermonde matrix of distinct points and are independent. Multiplication
// by inv(V_top) preserves that and turns the first m rows into the identity.
matrix reduced_vandermonde(construction how, std::size_t data, std::size_t parity) {
  matrix top(data, data), below(parity, data);
  for (std::size_t i = 0; i < data + parity; ++i)
    for (std::size_t j = 0; j < data; ++j)
      (i < data ? top.at(i, j) : below.at(i - data, j)) = power(point(how, i), static_cast<unsigned>(j));
  return below * inverse(top).value();  // NOLINT(bugprone-unchecked-optional-access): invertible, since its
                                        // points are distinct
}

matrix cauchy_matrix(std::size_t data, std::size_t parity) {
  matrix m(parity, data);
  for (std::size_t i = 0; i < parity; ++i)
    for (std::size_t j = 0; j < data; ++j) m.at(i, j) = inverse(static_cast<element>((data + i) ^ j));
  return m;
}

}  // namespace

matrix parity_matrix(construction how, std::size_t data, std::size_t parity) {
  constexpr std::size_t most = 256;
  if (data == 0 || data > most || parity > most - data)
    throw usage_error(detail::format(
        "expected at least 1 data shard and at most 256 shards in total, found {} data and {} parity shards",
        data, parity));
  return how == construction::cauchy ? cauchy_matrix(data, parity) : reduced_vandermonde(how, data, parity);
}

// --- linear_map

linear_map::linear_map(matrix m) : cells_(std::move(m)) {
  bits_.reserve(cells_.rows() * cells_.columns());
  nibbles_.reserve(bits_.capacity());
  for (std::size_t j = 0; j < cells_.columns(); ++j)
    for (std::size_t i = 0; i < cells_.rows(); ++i) {
      auto const cell = cells_.at(i, j);
      plain_ = plain_ && cell == 1;
      bits_.push_back(bits_of(cell));
      nibbles_.push_back(nibbles_of(cell));
    }
}

void linear_map::run(kernel with, std::size_t first_column, std::span<std::byte const* const> sources,
                     std::span<std::byte* const> outputs, std::size_t size, bool add) const {
  if (with != kernel::automatic && function_of(with) == nullptr)
    throw std::invalid_argument("linear_map: kernel is not available");
  if (outputs.size() != cells_.rows()) throw std::invalid_argument("linear_map: expected one output per row");
  if (outputs.empty() || size == 0) return;
  auto const first_cell = first_column * cells_.rows();
  run_product({bits_.data() + first_cell, nibbles_.data() + first_cell, cells_.rows(), sources.size(),
               sources.data(), outputs.data(), 0, size, add, plain_},
              with);
}

void linear_map::apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs,
                       std::size_t size, kernel with) const {
  if (sources.size() != cells_.columns())
    throw std::invalid_argument("linear_map: expected one source per column");
  run(with, 0, sources, outputs, size, false);
}

void linear_map::add_column(std::size_t column, std::byte const* difference,
                            std::span<std::byte* const> outputs, std::size_t size, kernel with) const {
  if (column >= cells_.columns()) throw std::out_of_range("linear_map: column out of range");
  run(with, column, {&difference, 1}, outputs, size, true);
}

}  // namespace skel::storage
