#include "cell_surface.hpp"

#include <algorithm>
#include <cmath>

#include "edge_root.hpp"
#include "first_user.hpp"
#include "node_slopes.hpp"

namespace isosurface {

cell_surface::cell_surface(node_grid const& grid, surface_options const& options, layer_view const& layer,
                           range rows)
    : grid_(grid),
      values_(options.values),
      layer_(layer),
      rows_(rows),
      lattice_(grid, options.edges_per_cell()),
      surfaces_(options.values.size()),
      tolerance_(options.tolerance) {}

void cell_surface::begin_cell(tricubic const& cell, control_net const& net, std::size_t x, std::size_t row) {
  polynomial_ = &cell;
  net_ = &net;
  cell_ = {x, row, layer_.number()};
  auto const n = net.parts() + 1;
  classes_.resize(n * n * n);
  auto to = classes_.begin();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        double const f = *net.at(3 * i, 3 * j, 3 * k);
        std::uint8_t count = 0;
        for (double const v : values_) count = static_cast<std::uint8_t>(count + (f >= v ? 1 : 0));
        *to++ = count;
      }
}

/// The vertex of an edge, made at first use, or of another piece.
template <class Make>
std::uint32_t cell_surface::vertex(surface& s, std::size_t axis, lattice_point const& from,
                                   Make const& make) {
  auto const edge = key(axis, from);
  auto& v = s.vertices.of(edge);
  if (v != vertex_table::none) return v;
  if (made_elsewhere(axis, from)) {
    v = foreign_bit<std::uint32_t> | static_cast<std::uint32_t>(s.foreign.size());
    s.foreign.push_back(edge);
  } else {
    v = make();
    share(s, axis, from, edge, v);
  }
  return v;
}

void cell_surface::add(std::size_t value) {
  ++counts.active;
  for (std::size_t k = 0; k < net_->parts(); ++k)
    for (std::size_t j = 0; j < net_->parts(); ++j)
      for (std::size_t i = 0; i < net_->parts(); ++i) add_part(value, {i, j, k});
  if (!patch_.triangles.empty()) add_patch(surfaces_[value], values_[value]);
}

void cell_surface::add_part(std::size_t value, lattice_point const& part) {
  constexpr int more_halvings = 2;
  auto const n = net_->parts() + 1;
  auto const* const corner = &classes_[part[0] + n * (part[1] + n * part[2])];
  unsigned above = 0;
  for (unsigned c = 0; c < 8; ++c)
    above |= (corner[c % 2 + n * (c / 2 % 2) + n * n * (c / 4)] > value ? 1U : 0U) << c;
  double const v = values_[value];
  if (above == 0 || above == 255) {
    if (net_->hull_of_part(part[0], part[1], part[2]).straddles(v) &&
        may_hide(net_->part(part[0], part[1], part[2]), v, more_halvings))
      ++counts.unresolved;
    return;
  }
  auto const& c = cube_cases()[above];
  auto& s = surfaces_[value];
  std::array<std::uint32_t, 12> vertices{};
  for (std::size_t e = 0; e < 12; ++e) {
    if (((c.edges >> e) & 1U) == 0) continue;
    auto const& from = cube_edges[e].from;
    lattice_point const at{part[0] + from[0], part[1] + from[1], part[2] + from[2]};
    auto const axis = cube_edges[e].axis;
    vertices[e] = tolerance_ > 0 ? patch_vertex(v, axis, at)
                                 : vertex(s, axis, at, [&] { return make_vertex(s, v, axis, at); });
  }
  auto& triangles = tolerance_ > 0 ? patch_.triangles : s.triangles;
  for (std::size_t i = 0; i < 3U * c.triangles; i += 3)
    triangles.push_back({vertices[c.corners[i]], vertices[c.corners[i + 1]], vertices[c.corners[i + 2]]});
  if (!(tolerance_ > 0)) counts.polygons += c.polygons;
}

std::uint32_t cell_surface::patch_vertex(double value, std::size_t axis, lattice_point const& from) {
  auto const edge = key(axis, from);
  auto& known = patch_vertices_.of(edge);
  if (known != vertex_table::none) return known;
  known = static_cast<std::uint32_t>(patch_.vertices.size());
  surface_patch::vertex v{edge, axis, from, 0, {}};
  auto const* const b = net_->at(3 * from[0], 3 * from[1], 3 * from[2]);
  auto const stride = net_->stride(axis);
  double const t = edge_root({b[0], b[stride], b[2 * stride], b[3 * stride]}, value);
  for (std::size_t a = 0; a < 3; ++a) {
    v.at[a] = (static_cast<double>(from[a]) + (a == axis ? t : 0)) / static_cast<double>(net_->parts());
    if (a == axis) continue;
    if (from[a] == 0) v.faces |= 1U << (2 * a);
    if (from[a] == net_->parts()) v.faces |= 2U << (2 * a);
  }
  patch_.vertices.push_back(v);
  return known;
}

/// Adds the patch, simplified, to the surface, and empties it.
void cell_surface::add_patch(surface& s, double value) {
  vector3 sides;
  for (std::size_t a = 0; a < 3; ++a) sides[a] = grid_.axis(a).at[cell_[a] + 1] - grid_.axis(a).at[cell_[a]];
  simplify(patch_, *polynomial_, sides, value, tolerance_);
  std::vector<std::uint32_t> numbers(patch_.vertices.size(), vertex_table::none);
  auto const number = [&](std::uint32_t i) {
    auto const& v = patch_.vertices[i];
    auto const make = [&] { return make_vertex(s, v.at); };
    if (numbers[i] == vertex_table::none)
      numbers[i] = v.faces == 0 ? make() : vertex(s, v.axis, v.from, make);
    return numbers[i];
  };
  for (auto const& t : patch_.triangles) s.triangles.push_back({number(t[0]), number(t[1]), number(t[2])});
  counts.polygons += patch_.triangles.size();
  patch_ = {};
  patch_vertices_ = {};
}

std::uint32_t cell_surface::make_vertex(surface& s, vector3 const& at) const {
  point position;
  auto gradient = polynomial_->gradient(at);
  for (std::size_t a = 0; a < 3; ++a) {
    auto const& nodes = grid_.axis(a).at;
    position[a] = static_cast<float>(std::lerp(nodes[cell_[a]], nodes[cell_[a] + 1], at[a]));
    gradient[a] /= nodes[cell_[a] + 1] - nodes[cell_[a]];
  }
  s.positions.push_back(position);
  s.normals.push_back(normalized({-gradient[0], -gradient[1], -gradient[2]}));
  return static_cast<std::uint32_t>(s.positions.size() - 1);
}

edge_key cell_surface::key(std::size_t axis, lattice_point const& from) const {
  auto const n = net_->parts();
  return lattice_.key(axis, cell_[0] * n + from[0], cell_[1] * n + from[1], cell_[2] * n + from[2]);
}

bool cell_surface::made_elsewhere(std::size_t axis, lattice_point const& from) const {
  place_in_cell place{};
  for (std::size_t a = 0; a < 3; ++a)
    if (a != axis) place[a] = from[a] == 0 ? -1 : from[a] == net_->parts() ? 1 : 0;
  if (!grid_.joined_below(cell_[2])) place[2] = std::max(place[2], 0);
  if (!layer_.has_holes()) return place[2] < 0 || (place[1] < 0 && cell_[1] == rows_.first && cell_[1] > 0);
  return find_first_user(layer_, rows_, cell_[1], cell_[0], place,
                         {grid_.axis(0).cells(), grid_.axis(1).cells()}) == first_user::other_piece;
}

/// The coordinate of a lattice point along an axis, or of the point t of the way to the next one.
double cell_surface::coordinate(std::size_t axis, std::size_t at, double t) const {
  auto const& nodes = grid_.axis(axis).at;
  return std::lerp(nodes[cell_[axis]], nodes[cell_[axis] + 1],
                   (static_cast<double>(at) + t) / static_cast<double>(net_->parts()));
}

std::uint32_t cell_surface::make_vertex(surface& s, double value, std::size_t axis,
                                        lattice_point const& from) {
  auto const* const b = net_->at(3 * from[0], 3 * from[1], 3 * from[2]);
  auto const curve = [&](double const* p) {
    auto const stride = net_->stride(axis);
    return std::array{p[0], p[stride], p[2 * stride], p[3 * stride]};
  };
  auto const edge = curve(b);
  double const t = edge_root(edge, value);
  vector3 gradient;
  point position;
  for (std::size_t a = 0; a < 3; ++a) {
    auto const& nodes = grid_.axis(a).at;
    double const side = (nodes[cell_[a] + 1] - nodes[cell_[a]]) / static_cast<double>(net_->parts());
    if (a == axis) {
      gradient[a] = cubic_slope(edge, t) / side;
    } else {  // the slope at the end of a Bezier curve is 3 times the difference to the next control point
      auto const stride = static_cast<std::ptrdiff_t>(net_->stride(a));
      bool const last = from[a] == net_->parts();
      double const next = cubic(curve(last ? b - stride : b + stride), t);
      gradient[a] = 3 * (last ? value - next : next - value) / side;
    }
    position[a] = static_cast<float>(coordinate(a, from[a], a == axis ? t : 0));
  }
  s.positions.push_back(position);
  s.normals.push_back(normalized({-gradient[0], -gradient[1], -gradient[2]}));
  return static_cast<std::uint32_t>(s.positions.size() - 1);
}

void cell_surface::share(surface& s, std::size_t axis, lattice_point const& from, edge_key edge,
                         std::uint32_t vertex) const {
  auto const n = net_->parts();
  auto const above = cell_[2] + 1;
  if (axis != 2 && from[2] == n && above < grid_.layers() && grid_.joined_below(above))
    s.above.push_back({edge, vertex});
  if (axis != 1 && from[1] == n && cell_[1] + 1 == rows_.end && rows_.end < grid_.axis(1).cells())
    s.last_row.push_back({edge, vertex});
}

piece_mesh cell_surface::finish() {
  piece_mesh m;
  m.counts = counts;
  auto const append = [](auto& to, auto const& from) {
    to.insert(to.end(), from.begin(), from.end());
    return static_cast<std::uint32_t>(from.size());
  };
  for (auto const& s : surfaces_) {
    append(m.normals, s.normals);
    m.parts.push_back({append(m.positions, s.positions), append(m.triangles, s.triangles),
                       append(m.foreign, s.foreign), append(m.above, s.above),
                       append(m.last_row, s.last_row)});
  }
  return m;
}

}  // namespace isosurface
