#include "geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "triangulate.hpp"

namespace raytrace {

namespace {

constexpr double ulp = unit_roundoff;

// Bounds on the distance of a rounded hit point from its shape, for rays that start within the
// reach R and have a direction of length 1 (unit_tolerance). u = 2^-24 is the error of one
// rounding.
//
// Balls. The nearest point moves along the ray by 3 u F for b, 2 u F for the tolerance and 64 u F
// for the error of the direction's length, where F is the farthest start of a ray from the centre.
// Add 5 u F + 3 u R for the origin's distance, the nearest point, t and the point; and 46 u r for
// the radius and the discriminant.
double ball_error(double farthest, double radius, double reach) {
  return ulp * (80 * farthest + 50 * radius + 6 * reach);
}

// Facets. The point is within 39 u R of the plane: dot products of three terms at distances of up
// to 3.5 R, and the rounded plane. It is inside every edge moved outwards by 44 u R: 8 on purpose
// (edge_plane), the rest as for the plane. Moved edges meet 44 u R / sin(a / 2) from a corner of
// angle a. This also proves the distance of 3.5 R, if no sine is below 2^-10.
constexpr double plane_error = 40 * ulp, edge_error = 45 * ulp;

// Facets with a corner whose half angle has a smaller sine are slivers.
constexpr double sharpest = 1.0 / 256;

// Slivers and frusta have no such bound: hits beyond this distance are discarded.
constexpr double clip_error = 80 * ulp;

double largest(vec3d v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

double scale_of(scene const& world) {
  double scale = 0;
  auto const include = [&](vec3d p, double radius) {
    scale = std::max(scale, largest(p - world.view.from) + std::abs(radius));
  };
  for (auto const& v : world.vertices) include(v, 0);
  for (auto const& s : world.spheres) include(s.center, s.radius);
  for (auto const& c : world.cones) {
    include(c.base, c.base_radius);
    include(c.apex, c.apex_radius);
  }
  return scale;
}

/// The eye and all shapes, relative to the eye: the region where rays start, up to rounding.
class surroundings {
 public:
  explicit surroundings(scene const& world) : eye_(world.view.from) {
    include(eye_, 0);
    for (auto const& v : world.vertices) include(v, 0);
    for (auto const& s : world.spheres) include(s.center, s.radius);
    for (auto const& c : world.cones) {
      include(c.base, c.base_radius);
      include(c.apex, c.apex_radius);
    }
  }

  /// The distance of the farthest point.
  [[nodiscard]] double farthest_from(vec3d p) const {
    auto const larger = [](double a, double b) { return std::max(std::abs(a), std::abs(b)); };
    auto const a = p - low_, b = high_ - p;
    return length(vec3d{larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z)});
  }

 private:
  void include(vec3d place, double radius) {
    auto const p = place - eye_;
    double const r = std::abs(radius);
    low_ = {std::min(low_.x, p.x - r), std::min(low_.y, p.y - r), std::min(low_.z, p.z - r)};
    high_ = {std::max(high_.x, p.x + r), std::max(high_.y, p.y + r), std::max(high_.z, p.z + r)};
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  vec3d eye_;
  vec3d low_{infinity, infinity, infinity}, high_{-infinity, -infinity, -infinity};
};

/// The extent of a shape along the directions of the plane sets, before padding.
struct extent {
  double low[plane_sets], high[plane_sets];

  extent() {
    std::fill(low, low + plane_sets, std::numeric_limits<double>::infinity());
    std::fill(high, high + plane_sets, -std::numeric_limits<double>::infinity());
  }
  void include(vec3d p) { include_disc(p, 0, {0, 0, 0}); }

  /// Includes the points at `radius` from the centre, perpendicular to `axis`; a ball if the axis
  /// is 0. In direction m a disc extends by r sqrt(|m|^2 - (m axis)^2).
  void include_disc(vec3d center, double radius, vec3d axis) {
    double middle[plane_sets], tilt[plane_sets];
    slab_coordinates(center, middle);
    slab_coordinates(axis, tilt);
    for (std::size_t s = 0; s < plane_sets; ++s) {
      double const r = radius * std::sqrt(std::max(0.0, (s < 3 ? 1 : 3) - tilt[s] * tilt[s]));
      low[s] = std::min(low[s], middle[s] - r);
      high[s] = std::max(high[s], middle[s] + r);
    }
  }
};

class preparation {
 public:
  preparation(scene const& world, bool triangles_only)
      : world_(world), eye_(world.view.from), triangles_only_(triangles_only), origins_(world) {}

  geometry run() {
    scale_ = scale_of(world_);
    // Bounds ray origins and volumes, with a margin: hits are rounded, and secondary rays start off the
    // surface.
    reach_ = (1 + 1.0 / 1024) * scale_;
    out_.reach = static_cast<float>(reach_);
    out_.background = to_float(world_.background);
    for (auto const& m : world_.materials) {
      out_.materials.push_back({to_float(m.diffuse * m.color), static_cast<float>(m.specular),
                                static_cast<float>(m.shine), static_cast<float>(m.transmittance),
                                static_cast<float>(m.refraction)});
    }
    double const white = default_intensity(world_.lights.size());
    for (auto const& l : world_.lights) {
      out_.lights.push_back(
          {to_float(l.position - eye_), to_float(l.color.value_or(vec3d{white, white, white}))});
    }
    for (std::uint32_t i = 0; i < world_.primitives.size(); ++i) add(i);
    out_.hull_first.push_back(static_cast<std::uint32_t>(out_.hull_points.size()));
    return std::move(out_);
  }

 private:
  void add(std::uint32_t number) {
    auto const& p = world_.primitives[number];
    now_ = surface{};
    now_.material = p.material;
    now_.primitive = number;
    if (p.kind == shape::sphere) {
      add_ball(world_.spheres[p.index]);
    } else if (p.kind == shape::cone) {
      add_frustum(world_.cones[p.index]);
    } else {
      add_polygon(world_.polygons[p.index]);
    }
  }

  [[nodiscard]] std::uint32_t id() const { return static_cast<std::uint32_t>(out_.surfaces.size()); }

  void finish(surface::shape kind, std::size_t index, extent const& exact, double error) {
    now_.kind = kind;
    now_.index = static_cast<std::uint32_t>(index);
    out_.surfaces.push_back(now_);
    volume v;
    for (std::size_t s = 0; s < plane_sets; ++s) {
      double const pad = (s < 3 ? 1 : 2) * error;  // a diagonal: sqrt(3) and 5 u for its sum
      v.low[s] = static_cast<float>(exact.low[s] - pad);
      v.high[s] = static_cast<float>(exact.high[s] + pad);
    }
    out_.volumes.push_back(v);
  }

  void add_ball(sphere const& s) {
    auto const r = std::abs(s.radius);
    auto const rf = static_cast<float>(r);
    auto const center = s.center - eye_;
    out_.balls.push_back({to_float(center), rf, rf * rf, id()});
    now_.inward = s.radius < 0;
    extent e;
    e.include_disc(center, r, {0, 0, 0});
    finish(surface::shape::ball, out_.balls.size() - 1, e,
           ball_error(origins_.farthest_from(center) + reach_ - scale_, r, reach_));
  }

  void add_frustum(cone const& c) {
    double const r0 = std::abs(c.base_radius), r1 = std::abs(c.apex_radius);
    double const size = length(c.apex - c.base);
    auto const axis = normalized(c.apex - c.base);
    auto const base = c.base - eye_, apex = c.apex - eye_;
    out_.frusta.push_back({base, axis, size, r0, r1, (r1 - r0) / size, id()});
    now_.inward = c.base_radius < 0 || c.apex_radius < 0;
    extent e;
    e.include_disc(base, r0, axis);
    e.include_disc(apex, r1, axis);
    finish(surface::shape::frustum, out_.frusta.size() - 1, e, clip_error * reach_);
  }

  void add_polygon(polygon const& p) {
    corners_.clear();
    for (std::uint32_t i = 0; i < p.vertices; ++i) corners_.push_back(world_.vertices[p.first + i] - eye_);
    std::span<vec3d const> const corners(corners_);
    auto const twice_area = newell_normal(corners);
    double const size = length(twice_area);
    if (!(size > 0)) return;  // no area, cannot be hit
    auto const normal = (1 / size) * twice_area;
    bool const smooth = p.first_normal != polygon::flat;
    double away = 0;
    for (auto const& c : corners) away = std::max(away, std::abs(dot(normal, c - corners[0])));
    // With six printed digits, flat polygons deviate by a few 1e-6 of their coordinates.
    bool const planar = away <= 64 * ulp * scale_;
    for (auto const& cut : triangulate(corners, normal, triangles_only_ || smooth || !planar)) {
      if (add_facet(corners, cut, normal, planar) && smooth) set_patch(p, cut);
    }
  }

  bool add_facet(std::span<vec3d const> corners, piece const& cut, vec3d common, bool planar) {
    facet f;
    f.id = id();
    auto const& v = cut.corner;
    auto normal = common;
    auto origin = corners[0];
    if (!planar) {  // every triangle gets a plane of its own
      origin = corners[v[0]];
      auto const n = cross(corners[v[1]] - origin, corners[v[2]] - origin);
      if (!(length(n) > 0)) return false;
      normal = normalized(n);
    }
    f.face = {to_float(normal), static_cast<float>(dot(normal, origin))};
    out_.hull_first.push_back(static_cast<std::uint32_t>(out_.hull_points.size()));
    for (std::uint32_t e = 0; e < cut.corners; ++e) {
      f.edge[e] =
          edge_plane(corners, v[e], v[(e + 1) % cut.corners], normal, planar && !(cut.outer >> e & 1));
      out_.hull_points.push_back(to_float(corners[v[e]]));
    }
    if (cut.corners == 3) f.edge[3] = f.edge[2];
    out_.facets.push_back(f);
    finish_facet(corners, cut, normal, origin);
    return true;
  }

  void finish_facet(std::span<vec3d const> corners, piece const& cut, vec3d normal, vec3d origin) {
    auto const inwards = [&](std::uint32_t e) {
      return normalized(cross(normal, corners[cut.corner[(e + 1) % cut.corners]] - corners[cut.corner[e]]));
    };
    extent exact, moved;
    bool sliver = false;
    for (std::uint32_t e = 0; e < cut.corners; ++e) {
      // projected to the common plane, from which corners in the file may deviate
      auto c = corners[cut.corner[e]];
      c = c - dot(normal, c - origin) * normal;
      auto const in = inwards((e + cut.corners - 1) % cut.corners), out = inwards(e);
      double const squared_sine = 0.5 * (1 + dot(in, out));
      bool const convex = dot(normal, cross(in, out)) > 0;
      sliver = sliver || !convex || !(squared_sine >= sharpest * sharpest);
      exact.include(c);
      moved.include(c - (0.5 * edge_error * reach_ / squared_sine) * (in + out));
    }
    auto const index = out_.facets.size() - 1;
    if (sliver) {
      finish(surface::shape::sliver, index, exact, clip_error * reach_);
    } else {
      finish(surface::shape::facet, index, moved, plane_error * reach_);
    }
  }

  // A diagonal is always computed in the direction of ascending corner numbers and then turned.
  plane edge_plane(std::span<vec3d const> corners, std::uint32_t from, std::uint32_t to, vec3d normal,
                   bool shared) {
    bool const turned = shared && from > to;
    if (turned) std::swap(from, to);
    auto inwards = cross(normal, corners[to] - corners[from]);
    double const size = length(inwards);
    if (!(size > 0)) return {{0, 0, 0}, 0};  // no edge, always inside
    inwards = (1 / size) * inwards;
    auto const n = to_float(inwards);
    auto const c = static_cast<float>((shared ? 0 : 8 * ulp * scale_) - dot(inwards, corners[from]));
    return turned ? plane{-n, -c} : plane{n, c};
  }

  void set_patch(polygon const& p, piece const& cut) {
    patch_triangle t;
    auto const& v = cut.corner;
    auto const a = corners_[v[1]] - corners_[v[0]], b = corners_[v[2]] - corners_[v[0]];
    auto const normal = normalized(cross(a, b));
    double const size = length(cross(a, b));
    t.corner = to_float(corners_[v[0]]);
    t.weight[0] = to_float((1 / size) * cross(b, normal));
    t.weight[1] = to_float((1 / size) * cross(normal, a));
    for (std::size_t i = 0; i < 3; ++i) t.normal[i] = to_float(world_.normals[p.first_normal + v[i]]);
    out_.surfaces.back().patch = static_cast<std::uint32_t>(out_.patches.size());
    out_.patches.push_back(t);
  }

  scene const& world_;
  vec3d eye_;
  bool triangles_only_;
  std::vector<vec3d> corners_;  ///< of a polygon
  surroundings origins_;
  geometry out_;
  surface now_;
  double scale_ = 0, reach_ = 0;
};

}  // namespace

geometry prepare(scene const& world, bool triangles_only) { return preparation(world, triangles_only).run(); }

}  // namespace raytrace
