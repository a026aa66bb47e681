// The product of two dense matrices in supersteps, the application with which [Camargo06] measures
// checkpoints.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "skel/bsp.hpp"
#include "skel/immutable.hpp"

namespace matmul {

/// C = A B with `order` x `order` doubles whose entries come from a formula. Rows are grouped in
/// panels of `width` rows (the last may have fewer). Rank r of N has the rows of A, B and C in the
/// r-th part of the panels. The last `idle` ranks have none, but at least one rank has.
struct sizes {
  std::uint64_t order = 1024;
  std::uint64_t width = 64;
  std::uint64_t rounds = 1;  // C is the sum of this many equal products, for runs that last longer
  int idle = 0;
  [[nodiscard]] std::uint64_t panels() const { return (order + width - 1) / width; }
  /// The number of supersteps that multiply: one per panel and round.
  [[nodiscard]] std::uint64_t steps() const { return rounds * panels(); }
  /// The number of rows of panels [first, last).
  [[nodiscard]] std::uint64_t rows(std::uint64_t first, std::uint64_t last) const;
};

/// Entries between -1 and 1; the bits of their sums depend on the order of summation.
[[nodiscard]] double entry_of_a(std::uint64_t row, std::uint64_t column);
[[nodiscard]] double entry_of_b(std::uint64_t row, std::uint64_t column);

/// Computes c += a b for a row c: a holds as many entries as b has rows, and those of b are as long as c. The
/// products of each entry are added in the order of the inner index.
void multiply_row(std::span<double const> a, std::span<double const> b, std::span<double> c);

/// In superstep k the owner of panel k (modulo their number) of B sends it to all ranks with rows,
/// which multiply by it in the next one. Each entry of C is therefore summed in the order of the
/// inner index, for any number of ranks. After the last superstep rank 0 has all of C.
struct block_product {
  struct state {
    std::uint64_t first = 0, last = 0;          // panels
    skel::immutable<std::vector<double>> a, b;  // their rows
    std::vector<double> c;
    std::vector<double> whole;  // C, on rank 0 at the end
  };
  struct message {
    std::uint64_t step =
        0;  // of a panel of B; from steps() on: rows of C, of the panels from `step - steps()` on
    std::vector<double> values;
  };

  sizes size;

  [[nodiscard]] state begin(int rank, int ranks) const;
  [[nodiscard]] bool step(state& s, skel::superstep<message>& now) const;
  [[nodiscard]] skel::bsp_part<block_product> split(skel::bsp_parts<block_product> const& parts, int rank,
                                                    int ranks) const;
};

/// Computes rows of the product by another method: each entry separately, its products in the same
/// order. Compares every `every`-th row bit by bit. Returns the first row that differs, or `order`
/// if none does.
[[nodiscard]] std::uint64_t first_wrong_row(sizes const& size, std::span<double const> product,
                                            std::uint64_t every);

}  // namespace matmul

template <>
struct skel::transfer_traits<matmul::block_product::message> {
  static void pack(matmul::block_product::message const& m, std::vector<std::byte>& out) {
    skel::pack(m.step, out);
    skel::pack(m.values, out);
  }
  static std::size_t size(matmul::block_product::message const& m) {
    return packed_size(m.step) + packed_size(m.values);
  }
  static matmul::block_product::message unpack(std::span<std::byte const>& in) {
    auto const step = skel::unpack<std::uint64_t>(in);
    return {step, skel::unpack<std::vector<double>>(in)};
  }
};

template <>
struct skel::transfer_traits<matmul::block_product::state> {
  static void pack(matmul::block_product::state const& s, std::vector<std::byte>& out) {
    skel::pack(s.first, out);
    skel::pack(s.last, out);
    for (auto const* v : {&s.a, &s.b}) skel::pack(*v, out);
    for (auto const* v : {&s.c, &s.whole}) skel::pack(*v, out);
  }
  static std::size_t size(matmul::block_product::state const& s) {
    return sizeof s.first + sizeof s.last + packed_size(s.c) +
           packed_size(s.whole);  // a and b are packed separately
  }
  static matmul::block_product::state unpack(std::span<std::byte const>& in) {
    matmul::block_product::state s;
    s.first = skel::unpack<std::uint64_t>(in);
    s.last = skel::unpack<std::uint64_t>(in);
    for (auto* v : {&s.a, &s.b}) *v = skel::unpack<immutable<std::vector<double>>>(in);
    for (auto* v : {&s.c, &s.whole}) *v = skel::unpack<std::vector<double>>(in);
    return s;
  }
};
