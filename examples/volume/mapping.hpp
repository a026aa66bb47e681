// Mapping functions from scalars to colour and extinction, as pieces between their knots.
#pragma once

#include <limits>
#include <vector>

#include "specification.hpp"

namespace volume {

/// A piece between two neighbouring knots of either function. In it both are linear in s, the
/// scalar scaled so that the mapping's range is [0, 1]: extinction k0 + k1 (s - knot), colour c0 +
/// c1 (s - knot). The first and the last piece are constant and unbounded.
struct mapping_piece {
  float lower, upper;
  float knot;
  float k0, k1;
  rgb c0, c1;
};

class mapping {
 public:
  /// `low`, `high`: range of the data, for relative values and for the mapping of an empty
  /// specification. `unit`: the unit of length of extinction.
  mapping(mapping_spec const& spec, double low, double high, double unit);

  [[nodiscard]] std::vector<mapping_piece> const& pieces() const noexcept { return pieces_; }
  /// Converts a scalar to the scale of the pieces.
  [[nodiscard]] double scaled(double value) const { return (value - low_) * scale_; }
  [[nodiscard]] double value_of(double s) const { return low_ + s / scale_; }
  /// Whether any scalar from `least` to `most` (in the scale of the pieces) has extinction.
  [[nodiscard]] bool visible(float least, float most) const;
  /// Whether extinction jumps at a knot.
  [[nodiscard]] bool opacity_jumps() const;
  /// The mapping with absolute values and extinction per unit of length 1.
  [[nodiscard]] mapping_spec const& knots() const noexcept { return knots_; }

 private:
  mapping_spec knots_;
  double low_ = 0, scale_ = 1;
  std::vector<mapping_piece> pieces_;
};

}  // namespace volume
