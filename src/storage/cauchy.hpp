// The one form that the maps of all codes have.
//
// A code gives each shard a point x of the field and a multiplier v. The data determine a polynomial f of
// degree less than m, and shard i holds v_i f(x_i). By Lagrange's formula a shard is then a sum over any m
// others of products divided by the difference of two points [Lin14]. No matrix is inverted.
#pragma once

#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "storage/linear_map.hpp"

namespace skel::storage {

/// How a code gives points and multipliers to its shards.
struct point_rule {
  construction how;
  std::size_t spread_over;  ///< the multiplier is 1 over the product of x - y, y the points of so many shards

  /// Of shard i: i itself, or 0, 1, 2, 4, … for construction::zfec.
  [[nodiscard]] element point(std::size_t shard) const {
    auto const i = static_cast<unsigned>(shard);
    return how != construction::zfec || i == 0 ? static_cast<element>(i) : power(2, i - 1);
  }
};
[[nodiscard]] point_rule rule_of(code const& c);

/// Maps sources to outputs: cell (i, j) is outputs[i].weight * sources[j].weight / (the sum of their points).
/// An output at the point of a source is that source, and has no weight.
struct cauchy_form {
  struct place {
    element point, weight;
  };
  std::vector<place> sources, outputs;

  /// All cells, outputs by sources.
  [[nodiscard]] matrix cells() const;
  /// The column of one source.
  [[nodiscard]] matrix column(std::size_t source) const;
};

/// Maps m available shards to the wanted ones, both given by number (data 0 … m - 1, parity m … m + k - 1).
/// Throws std::invalid_argument unless `available` holds m different shards of the code.
[[nodiscard]] cauchy_form recovery_form(code const& c, std::span<std::size_t const> available,
                                        std::span<std::size_t const> wanted);
/// Maps the m data shards to the k parity shards.
[[nodiscard]] cauchy_form encoding_form(code const& c);

}  // namespace skel::storage
