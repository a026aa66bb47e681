#include "storage/linear_map.hpp"

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

linear_map::nibble_table nibbles_of(element cell) {
  linear_map::nibble_table table{};
  for (unsigned i = 0; i < 16; ++i) {
    table[i] = multiply(cell, static_cast<element>(i));
    table[16 + i] = multiply(cell, static_cast<element>(16 * i));
  }
  return table;
}

}  // namespace

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
