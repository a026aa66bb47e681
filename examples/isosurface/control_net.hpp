// Divides tricubic cells.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cell.hpp"

namespace isosurface {

/// An interval that contains all coefficients of a polynomial, and therefore all its values.
struct hull {
  double low, high;

  /// Whether the polynomial may be below the value at one point and not below it at another.
  [[nodiscard]] bool straddles(double value) const { return low < value && value <= high; }
  /// The interval, widened by the rounding errors of dividing cells.
  [[nodiscard]] hull widened() const;
};
[[nodiscard]] hull hull_of(tricubic const& cell);

/// The Bernstein coefficients of all parts of a cell whose axes are halved `level` times.
/// Neighbouring parts share those of their face, so there are 3 * 2^level + 1 along each axis.
/// Every third one is a value of the polynomial.
class control_net {
 public:
  explicit control_net(int level);

  /// Applies De Casteljau's algorithm as a matrix. The bits of the result on a face depend only on
  /// the coefficients on that face.
  void divide(tricubic const& cell);

  [[nodiscard]] std::size_t parts() const { return parts_; }  ///< along each axis
  [[nodiscard]] std::size_t points() const { return 3 * parts_ + 1; }
  [[nodiscard]] std::size_t stride(std::size_t axis) const {
    return axis == 0 ? 1 : axis == 1 ? points() : points() * points();
  }
  [[nodiscard]] double const* at(std::size_t i, std::size_t j, std::size_t k) const {
    return net_.data() + i + points() * (j + points() * k);
  }
  [[nodiscard]] hull hull_of_part(std::size_t i, std::size_t j, std::size_t k) const;
  [[nodiscard]] tricubic part(std::size_t i, std::size_t j, std::size_t k) const;

 private:
  std::size_t parts_;
  std::vector<std::array<double, 4>> weights_;  // weights of the cell's coefficients along an axis
  std::vector<double> along_x_, along_xy_, net_;
};

/// Whether a polynomial with all corners on one side of the value may be on the other side inside:
/// after `halvings` halvings some part still straddles the value.
[[nodiscard]] bool may_hide(tricubic const& cell, double value, int halvings);

}  // namespace isosurface
