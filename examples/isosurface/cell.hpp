// The piecewise tricubic model: data of nodes, polynomials of cells [Bajaj93, §2].
#pragma once

#include <array>
#include <cstddef>

namespace isosurface {

/// The C3 data of a node [Bajaj93, §2]: f and its mixed derivatives, at most one along each axis.
/// The bits of the index are the axes: data[0] = f, [1] = f_x, [2] = f_y, [3] = f_xy, [4] = f_z,
/// [5] = f_xz, [6] = f_yz, [7] = f_xyz. Derivatives are by the volume's coordinates.
using node_data = std::array<double, 8>;

using vector3 = std::array<double, 3>;

/// A trivariate cubic polynomial on the unit cube, in Bernstein-Bezier form. It has 64
/// coefficients, x fastest: b[i + 4 (j + 4 k)] belongs to B_i(x) B_j(y) B_k(z).
struct tricubic {
  std::array<double, 64> b{};

  [[nodiscard]] double value(vector3 const& u) const;
  /// The gradient by u in the unit cube. Divide by the cell's sides for the gradient by the
  /// coordinates.
  [[nodiscard]] vector3 gradient(vector3 const& u) const;
  struct both {
    double value;
    vector3 gradient;
  };
  /// The same to rounding, in one pass.
  [[nodiscard]] both look(vector3 const& u) const;
};

/// Returns the polynomial that has the data of the eight corners (x fastest) of a cell with these
/// sides. The bits of its values on a face depend only on the corners and sides of that face.
[[nodiscard]] tricubic hermite(std::array<node_data, 8> const& corners, vector3 const& sides);

}  // namespace isosurface
