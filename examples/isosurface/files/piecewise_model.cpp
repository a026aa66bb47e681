#include "piecewise_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "skel/error.hpp"

namespace isosurface {

namespace {

constexpr auto none = std::numeric_limits<std::size_t>::max();

/// Returns the cell of a coordinate. A node belongs to the cell behind it, the last one to the cell
/// before it.
std::size_t cell_of(std::span<double const> nodes, double at) {
  auto const behind = static_cast<std::size_t>(std::ranges::upper_bound(nodes, at) - nodes.begin());
  return std::min(behind, nodes.size() - 1) - 1;
}

piecewise_model::sample trilinear(std::array<double, 8> const& f, vector3 const& u) {
  piecewise_model::sample s;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    vector3 weight, slope;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bool const high = (corner >> axis & 1U) != 0;
      weight[axis] = high ? u[axis] : 1 - u[axis];
      slope[axis] = high ? 1 : -1;
    }
    s.value += f[corner] * weight[0] * weight[1] * weight[2];
    s.gradient[0] += f[corner] * slope[0] * weight[1] * weight[2];
    s.gradient[1] += f[corner] * weight[0] * slope[1] * weight[2];
    s.gradient[2] += f[corner] * weight[0] * weight[1] * slope[2];
  }
  return s;
}

}  // namespace

piecewise_model::piecewise_model(std::string path) : file_(std::move(path)), layer_(none) {}

bool piecewise_model::contains(vector3 const& p) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const& c = header().coordinates[axis];
    if (!(p[axis] >= c.front() && p[axis] <= c.back())) return false;
  }
  return true;
}

void piecewise_model::load(std::size_t layer) {
  if (layer == layer_) return;
  for (auto& s : slices_) s.resize(header().slice_numbers());
  bool const next = layer_ != none && layer == layer_ + 1;
  layer_ = none;  // in case reading fails
  if (next)
    slices_[0].swap(slices_[1]);
  else
    file_.read(layer, slices_[0]);
  file_.read(layer + 1, slices_[1]);
  layer_ = layer;
}

piecewise_model::sample piecewise_model::at(vector3 const& p) {
  if (!contains(p))
    throw skel::usage_error(fmt::format("({}, {}, {}) is outside of the model", p[0], p[1], p[2]));
  std::array<std::size_t, 3> cell{};
  vector3 u{}, sides{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const& c = header().coordinates[axis];
    cell[axis] = cell_of(c, p[axis]);
    sides[axis] = c[cell[axis] + 1] - c[cell[axis]];
    u[axis] = (p[axis] - c[cell[axis]]) / sides[axis];
  }
  load(cell[2]);
  auto const per_node = header().numbers_per_node();
  std::array<double, 8> values{};
  std::array<node_data, 8> corners{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    auto const x = cell[0] + (corner & 1U), y = cell[1] + (corner >> 1U & 1U);
    auto const* const data = &slices_[corner >> 2U][(x + header().coordinates[0].size() * y) * per_node];
    values[corner] = data[0];
    if (per_node == 8) std::copy_n(data, 8, corners[corner].begin());
  }
  sample s;
  if (per_node == 1) {
    s = trilinear(values, u);
  } else {
    auto const polynomial = hermite(corners, sides);
    s = {polynomial.value(u), polynomial.gradient(u)};
  }
  for (std::size_t axis = 0; axis < 3; ++axis) s.gradient[axis] /= sides[axis];
  return s;
}

}  // namespace isosurface
