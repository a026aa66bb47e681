#include "storage/linear_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

nibble_table nibbles_of(element cell) {
  nibble_table table{};
  for (unsigned i = 0; i < 16; ++i) {
    table[i] = multiply(cell, static_cast<element>(i));
    table[16 + i] = multiply(cell, static_cast<element>(16 * i));
  }
  return table;
}

}  // namespace

factor_list::factor_list(std::span<element const> elements) {
  struct all_factors {
    std::array<std::uint64_t, 256> bits;
    std::array<nibble_table, 256> nibbles;
  };
  static all_factors const all = [] {
    all_factors f;
    for (unsigned cell = 0; cell < 256; ++cell) {
      f.bits[cell] = bits_of(static_cast<element>(cell));
      f.nibbles[cell] = nibbles_of(static_cast<element>(cell));
    }
    return f;
  }();
  bits_.reserve(elements.size());
  nibbles_.reserve(elements.size());
  for (auto const e : elements) {
    bits_.push_back(all.bits[e]);
    nibbles_.push_back(all.nibbles[e]);
  }
}

// --- matrix

matrix::matrix(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), cells_(rows * columns) {}

// --- linear_map

linear_map::linear_map(matrix m) : cells_(std::move(m)) {
  std::vector<element> by_column;
  by_column.reserve(cells_.rows() * cells_.columns());
  for (std::size_t j = 0; j < cells_.columns(); ++j)
    for (std::size_t i = 0; i < cells_.rows(); ++i) by_column.push_back(cells_.at(i, j));
  plain_ = std::ranges::all_of(by_column, [](element e) { return e == 1; });
  factors_ = factor_list(by_column);
}

void linear_map::run(kernel with, std::size_t first_column, std::span<std::byte const* const> sources,
                     std::span<std::byte* const> outputs, std::size_t size, bool add) const {
  if (with != kernel::automatic && function_of(with) == nullptr)
    throw std::invalid_argument("linear_map: kernel is not available");
  if (outputs.size() != cells_.rows()) throw std::invalid_argument("linear_map: expected one output per row");
  if (outputs.empty() || size == 0) return;
  auto const first_cell = first_column * cells_.rows();
  run_product({factors_.view().from(first_cell), cells_.rows(), sources.size(), sources.data(),
               outputs.data(), 0, size, add, plain_},
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
