// Mapping functions from scalars to colour and extinction, as the pieces between their knots.
#pragma once

#include <limits>
#include <vector>

#include "specification.hpp"

namespace volume {

/// Between two neighbouring knots of either function both are linear in s, the scalar divided so that the
/// mapping's range is [0, 1]: extinction k0 + k1 (s - knot), colour c0 + c1 (s - knot). The first and the
/// last piece are constant and have no end.
struct mapping_piece {
  float lower, upper;
  float knot;
  float k0, k1;
  rgb c0, c1;
};

class mapping {
 public:
  /// `low`, `high`: the range of the data, for relative values and for the mapping of an empty specification.
  /// `unit`: the length that extinction is given for.
  mapping(mapping_spec const& spec, double low, double high, double unit);

  [[nodiscard]] std::vector<mapping_piece> const& pieces() const noexcept { return pieces_; }
  /// The scalar in the pieces' scale.
  [[nodiscard]] double scaled(double value) const { return (value - low_) * scale_; }
  [[nodiscard]] double value_of(double s) const { return low_ + s / scale_; }
  /// Whether any scalar from `least` to `most` (in the pieces' scale) has extinction.
  [[nodiscard]] bool visible(float least, float most) const;
  /// The values that the pieces were made from: absolute values, extinction per unit of length 1.
  [[nodiscard]] mapping_spec const& knots() const noexcept { return knots_; }

 private:
  mapping_spec knots_;
  double low_ = 0, scale_ = 1;
  std::vector<mapping_piece> pieces_;
};

}  // namespace volume
