#include "geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "triangulate.hpp"

namespace skel::raytrace {

namespace {

constexpr double ulp = 1.0 / (1 << 24);

double largest(vec3d v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

double scale_of(scene const& world) {
  double scale = std::max(largest(world.view.from), 1e-12);
  for (auto const& v : world.vertices) scale = std::max(scale, largest(v));
  for (auto const& s : world.spheres) scale = std::max(scale, largest(s.center) + std::abs(s.radius));
  for (auto const& c : world.cones) {
    scale = std::max(
        {scale, largest(c.base) + std::abs(c.base_radius), largest(c.apex) + std::abs(c.apex_radius)});
  }
  return scale;
}

class preparation {
 public:
  preparation(scene const& world, bool triangles_only) : world_(world), triangles_only_(triangles_only) {}

  geometry run() {
    scale_ = scale_of(world_);
    out_.scale = static_cast<float>(scale_);
    pad_ = 32 * ulp * scale_;
    out_.pad = static_cast<float>(pad_);
    out_.background = to_float(world_.background);
    for (auto const& m : world_.materials) {
      out_.materials.push_back({to_float(m.diffuse * m.color), static_cast<float>(m.specular),
                                static_cast<float>(m.shine), static_cast<float>(m.transmittance),
                                static_cast<float>(m.refraction)});
    }
    double const white = default_intensity(world_.lights.size());
    for (auto const& l : world_.lights) {
      out_.lights.push_back({to_float(l.position), to_float(l.color.value_or(vec3d{white, white, white}))});
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

  void finish(surface::shape kind, std::size_t index, vec3d low, vec3d high) {
    now_.kind = kind;
    now_.index = static_cast<std::uint32_t>(index);
    out_.surfaces.push_back(now_);
    vec3d const pad{pad_, pad_, pad_};
    auto const l = to_float(low - pad), h = to_float(high + pad);
    out_.boxes.push_back({{l.x, l.y, l.z}, {h.x, h.y, h.z}});
  }

  void add_ball(sphere const& s) {
    auto const r = std::abs(s.radius);
    auto const rf = static_cast<float>(r);
    out_.balls.push_back({to_float(s.center), rf, rf * rf, id()});
    now_.inward = s.radius < 0;
    finish(surface::shape::ball, out_.balls.size() - 1, s.center - vec3d{r, r, r}, s.center + vec3d{r, r, r});
  }

  void add_frustum(cone const& c) {
    double const r0 = std::abs(c.base_radius), r1 = std::abs(c.apex_radius);
    double const size = length(c.apex - c.base);
    auto const axis = normalized(c.apex - c.base);
    out_.frusta.push_back({c.base, axis, size, r0, (r1 - r0) / size, id()});
    now_.inward = c.base_radius < 0 || c.apex_radius < 0;
    // a disc reaches r sqrt(1 - a^2) in the direction of a coordinate axis
    auto const reach = [](double a) { return std::sqrt(std::max(0.0, 1 - a * a)); };
    vec3d const disc{reach(axis.x), reach(axis.y), reach(axis.z)};
    auto const b0 = c.base - r0 * disc, b1 = c.base + r0 * disc, a0 = c.apex - r1 * disc,
               a1 = c.apex + r1 * disc;
    finish(surface::shape::frustum, out_.frusta.size() - 1,
           {std::min(b0.x, a0.x), std::min(b0.y, a0.y), std::min(b0.z, a0.z)},
           {std::max(b1.x, a1.x), std::max(b1.y, a1.y), std::max(b1.z, a1.z)});
  }

  void add_polygon(polygon const& p) {
    std::span<vec3d const> const corners(&world_.vertices[p.first], p.vertices);
    auto const twice_area = newell_normal(corners);
    double const size = length(twice_area);
    if (!(size > 0)) return;  // no area: nothing to hit
    auto const normal = (1 / size) * twice_area;
    bool const smooth = p.first_normal != polygon::flat;
    double away = 0;
    for (auto const& c : corners) away = std::max(away, std::abs(dot(normal, c - corners[0])));
    // Printed with six digits, flat polygons are flat to a few 1e-6 of their coordinates.
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
    if (!planar) {  // every triangle has a plane of its own
      origin = corners[v[0]];
      auto const n = cross(corners[v[1]] - origin, corners[v[2]] - origin);
      if (!(length(n) > 0)) return false;
      normal = normalized(n);
    }
    f.face = {to_float(normal), static_cast<float>(dot(normal, origin))};
    vec3d low = corners[v[0]], high = low;
    out_.hull_first.push_back(static_cast<std::uint32_t>(out_.hull_points.size()));
    for (std::uint32_t e = 0; e < cut.corners; ++e) {
      auto const& c = corners[v[e]];
      f.edge[e] =
          edge_plane(corners, v[e], v[(e + 1) % cut.corners], normal, planar && !(cut.outer >> e & 1));
      low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
      high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
      out_.hull_points.push_back(to_float(c));
    }
    if (cut.corners == 3) f.edge[3] = f.edge[2];
    out_.facets.push_back(f);
    finish(surface::shape::facet, out_.facets.size() - 1, low, high);
    return true;
  }

  // A diagonal is always calculated in the direction of growing corner numbers, then turned.
  plane edge_plane(std::span<vec3d const> corners, std::uint32_t from, std::uint32_t to, vec3d normal,
                   bool shared) {
    bool const turned = shared && from > to;
    if (turned) std::swap(from, to);
    auto inwards = cross(normal, corners[to] - corners[from]);
    double const size = length(inwards);
    if (!(size > 0)) return {{0, 0, 0}, 0};  // no edge: always inside
    inwards = (1 / size) * inwards;
    auto const n = to_float(inwards);
    auto const c = static_cast<float>((shared ? 0 : 8 * ulp * scale_) - dot(inwards, corners[from]));
    return turned ? plane{-n, -c} : plane{n, c};
  }

  void set_patch(polygon const& p, piece const& cut) {
    patch_triangle t;
    for (std::size_t i = 0; i < 3; ++i) {
      t.corner[i] = to_float(world_.vertices[p.first + cut.corner[i]]);
      t.normal[i] = to_float(world_.normals[p.first_normal + cut.corner[i]]);
    }
    out_.surfaces.back().patch = static_cast<std::uint32_t>(out_.patches.size());
    out_.patches.push_back(t);
  }

  scene const& world_;
  bool triangles_only_;
  geometry out_;
  surface now_;
  double scale_ = 1, pad_ = 0;
};

}  // namespace

geometry prepare(scene const& world, bool triangles_only) { return preparation(world, triangles_only).run(); }

}  // namespace skel::raytrace
