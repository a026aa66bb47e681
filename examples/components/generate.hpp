// Graphs given by a formula. Edge i depends only on the parameters and on i, so every rank can
// generate any part without the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "edge.hpp"

namespace components {

enum class graph_kind : std::uint8_t { uniform, kronecker, grid };

/// The value of --generate. Kinds:
///   uniform:n=,m=,seed=             both ends of m edges drawn from n nodes, independently
///                                   (Erdős and Rényi, with repetitions)
///   kronecker:scale=,degree=,seed=  2^scale nodes, degree * 2^scale edges with Graph500's probabilities
///                                   0.57, 0.19, 0.19, 0.05 (R-MAT of Chakrabarti, Zhan and Faloutsos 2004),
///                                   nodes renumbered at random
///   grid:width=,height=,seed=       neighbours in a rectangle; row by row, or in random order if a
///                                   seed is given
struct graph_spec {
  graph_kind kind = graph_kind::uniform;
  std::uint32_t width = 0;  ///< grid: nodes in a row
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t seed = 0;
  bool shuffled = false;  ///< grid: in random order
  bool operator==(graph_spec const&) const = default;
};

/// Throws usage_error `--generate: ...` that names what was expected.
[[nodiscard]] graph_spec parse_graph(std::string_view spec);
[[nodiscard]] std::string to_string(graph_spec const& g);

/// Generates the edges first, first + 1, ... of the graph, as many as fit.
void generate(graph_spec const& spec, std::uint64_t first, std::span<edge> edges);

// Stateless random numbers: hashes of their purpose.

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014), a bijection of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A random number below n for n of at most 2^32 (Lemire 2019, without his rejection: the bias is n / 2^32).
constexpr std::uint64_t below(std::uint64_t random, std::uint64_t n) { return ((random >> 32) * n) >> 32; }

/// A random permutation of 0 ... 2^bits - 1: multiplications by odd numbers and shifts can be undone.
class permutation_of_bits {
 public:
  permutation_of_bits(unsigned bits, std::uint64_t seed)
      : mask_(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1),
        shift_(bits < 4 ? 1 : bits / 2),
        key_(mix(seed ^ 0x5bd1e995)) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    for (std::uint64_t round = 0; round < 4; ++round) {
      x = ((x ^ key_) * (mix(key_ + round) | 1)) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t key_;
};

}  // namespace components
