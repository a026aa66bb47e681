// Random scenes, most of which provoke rounding errors: every accelerator must agree with testing
// all shapes. SKEL_LONG: thousands of scenes instead of a few.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kernel.hpp"
#include "nff.hpp"
#include "placed.hpp"
#include "renderer.hpp"
#include "spd.hpp"

using namespace raytrace;

namespace {

constexpr int side = 32;

// The position of a scene and the sizes of its shapes.
struct placement {
  char const* name;
  vec3d middle;
  double size;      // size of the filled space
  double smallest;  // shapes have sizes from smallest * size to size, by magnitude
  bool on_grid;     // coordinates are multiples of size / 4: ties, edges met exactly, rays in planes
};

constexpr std::array<placement, 8> placements{{
    {"ordinary", {0, 0, 0}, 3, 0.1, false},
    {"ordinary, mixed sizes", {0, 0, 0}, 3, 1e-4, false},
    {"on a grid", {0, 0, 0}, 3, 0.25, true},
    {"far out", {9e4, -4e4, 1.1e5}, 3, 0.1, false},
    {"far out on one axis, on a grid", {0, 1e5, 0}, 4, 0.25, true},
    {"far out and large", {1e5, 1e5, -1e5}, 3000, 1e-3, false},
    {"tiny", {0, 0, 0}, 1e-6, 0.1, false},
    {"huge", {0, 0, 0}, 1e12, 0.01, false},
}};

class scene_maker {
 public:
  scene_maker(std::uint32_t seed, placement const& where) : random_(seed), where_(where) {}

  scene make() {
    auto const corner = where_.size * vec3d{1, -1.5, 0.8};
    scene_.name = "random";
    scene_.view = {where_.middle + corner, where_.middle, {0, 0, 1}, 90, 1, side, side};
    scene_.background = {0.1, 0.2, 0.4};
    for (auto n = 1 + below(3); n > 0; --n) scene_.lights.push_back({point(2), {}});
    for (auto n = 3 + below(25); n > 0; --n) {
      if (scene_.materials.empty() || below(4) == 0) add_material();
      add_shape();
    }
    return std::move(scene_);
  }

 private:
  // Gives the same numbers with every standard library, unlike a distribution.
  double unit() { return static_cast<double>(random_()) / 4294967296.0; }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(unit() * n); }

  double size() { return snapped(where_.size * std::pow(where_.smallest, unit())); }
  [[nodiscard]] double snapped(double x) const {
    double const step = where_.size / 4;
    return where_.on_grid ? std::max(1.0, std::round(x / step)) * step : x;
  }
  vec3d vector(double length) {
    auto const one = [&] {
      double const x = (2 * unit() - 1) * length;
      return where_.on_grid ? std::round(4 * x / where_.size) * where_.size / 4 : x;
    };
    return {one(), one(), one()};
  }
  vec3d point(double reach = 1) { return where_.middle + vector(reach * where_.size); }

  void add_material() {
    static constexpr std::array<double, 4> weights{0, 0, 0.3, 0.6};
    scene_.add_material({{unit(), unit(), unit()},
                         unit(),
                         weights[below(4)],
                         std::floor(20 * unit()),
                         weights[below(4)],
                         1 + 0.5 * below(2)});
  }

  void add_shape() {
    switch (below(10)) {
      case 0:
      case 1:
        scene_.add(sphere{point(), below(5) == 0 ? -size() : size()});
        break;
      case 2:
      case 3:
        add_cone();
        break;
      case 4:
        add_ring(false);
        break;
      case 5:
        add_ring(true);
        break;
      case 6:
        add_sliver();
        break;
      case 7:
        add_scattered();
        break;
      case 8:
        add_patch();
        break;
      default:
        add_quadrilateral();
    }
  }

  void add_cone() {
    double const r = size(), top = below(3) == 0 ? r : below(2) == 0 ? 0 : size();
    auto const base = point();
    vec3d axis = vector(where_.size);
    if (below(3) == 0) axis = {0, 0, size()};
    if (length(axis) < 0.01 * where_.size) axis = {where_.size, 0, 0};
    scene_.add(cone{base, r, base + axis, top});
  }

  // In its own plane, around a point: convex, or a star. Some corners are repeated.
  void add_ring(bool star) {
    auto const middle = point();
    auto u = vector(1), v = vector(1);
    if (where_.on_grid || below(3) == 0) u = {1, 0, 0}, v = below(2) == 0 ? vec3d{0, 1, 0} : vec3d{0, 0, 1};
    double const r = size();
    auto const n = 3 + below(7);
    bool const repeats = below(3) == 0;
    std::vector<vec3d> corners;
    for (std::uint32_t i = 0; i < n; ++i) {
      double const a = 2 * std::numbers::pi * i / n, s = star && i % 2 == 1 ? 0.4 * r : r;
      auto const corner = middle + (s * std::cos(a)) * u + (s * std::sin(a)) * v;
      for (auto k = repeats ? 1 + below(3) : 1; k > 0; --k) corners.push_back(corner);
    }
    if (repeats && below(2) == 0) corners.push_back(corners.front());
    scene_.add_polygon(corners);
  }

  // Long, with a width of zero or a few rounding errors of its coordinates.
  void add_sliver() {
    auto const from = point();
    auto const along = vector(where_.size);
    double const width = below(4) == 0 ? 0 : where_.size * std::pow(10.0, -8 * unit());
    vec3d const across{width * (unit() - 0.5), width * (unit() - 0.5), width * (unit() - 0.5)};
    switch (below(4)) {
      case 0:
        scene_.add_polygon({from, from + along, from + 0.3 * along + across});
        break;
      case 1:  // a needle
        scene_.add_polygon({from, from + along, from + along + across});
        break;
      case 2:
        scene_.add_polygon({from, from + along, from + along + across, from + across});
        break;
      default:  // goes back on itself
        scene_.add_polygon({from, from + along, from + across, from + 0.5 * along, from});
    }
  }

  // Not flat, self-intersecting, with repeated corners.
  void add_scattered() {
    auto const n = 3 + below(4);
    bool const flat = below(2) == 0;
    auto const z = point().z, x = point().x;
    std::vector<vec3d> corners;
    for (std::uint32_t i = 0; i < n; ++i) {
      auto p = point(0.7);
      if (flat) (where_.on_grid ? p.x : p.z) = where_.on_grid ? x : z;
      corners.push_back(!corners.empty() && below(4) == 0 ? corners[below(i)] : p);
    }
    scene_.add_polygon(corners);
  }

  void add_patch() {
    auto const a = point(), u = vector(size()), v = vector(size());
    std::vector<vec3d> const corners{a, a + u, a + u + v, a + v + vector(0.1 * size())};
    std::vector<vec3d> normals;
    for (std::size_t i = 0; i < corners.size(); ++i)
      normals.push_back(normalized(vector(where_.size) + 0.1 * where_.size * vec3d{1, 2, 3}));
    scene_.add_polygon(corners, normals);
  }

  void add_quadrilateral() {
    auto const a = point(), u = vector(where_.size), v = vector(where_.size);
    scene_.add_polygon({a, a + u, a + u + v, a + v});
  }

  std::mt19937 random_;
  placement where_;
  scene scene_;
};

struct picture {
  std::vector<float> rgb = std::vector<float>(std::size_t{3} * side * side);
  ray_counts counts;

  explicit picture(renderer const& r) { r.render_tile(0, 0, side, side, rgb, counts); }
  // Compares bytes, because NaN is not equal to itself.
  friend bool operator==(picture const& a, picture const& b) {
    return std::memcmp(a.rgb.data(), b.rgb.data(), a.rgb.size() * sizeof(float)) == 0 && a.counts == b.counts;
  }
};

// Through corners and between them, from near and from as far as the eye, some along axes and
// diagonals.
std::vector<ray> probing_rays(scene const& s, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto const unit = [&random] { return static_cast<float>(random() >> 8) / 8388608.0F - 1; };
  auto const vector = [&] { return vec3f{unit(), unit(), unit()}; };
  auto const middle = to_float(s.view.at - s.view.from);  // relative to the eye, as all rays
  float const out = std::max({std::abs(middle.x), std::abs(middle.y), std::abs(middle.z)});
  float const size = length(middle);
  std::vector<ray> rays;
  for (int i = 0; i < 500; ++i) {
    bool const at_corner = !s.vertices.empty() && i % 2 == 0;
    vec3f const aim = at_corner ? to_float(s.vertices[random() % s.vertices.size()] - s.view.from)
                                : middle + size * vector();
    vec3f direction = vector();
    if (i % 5 == 1) direction.x = 0;
    if (i % 5 == 2) direction.x = direction.y = 0;
    if (i % 5 == 3) direction.z = direction.y = direction.x;
    direction = normalized(direction);
    vec3f origin = i % 7 == 0 ? out * vector() : aim - size * direction;
    if (i % 7 == 0) direction = normalized(aim - origin);
    for (float* const x : {&origin.x, &origin.y, &origin.z}) *x = std::clamp(*x, -out, out);
    rays.push_back({origin, direction});
  }
  return rays;
}

// Sixteen neighbours of each of some rays, which are traced in packets: parallel, or a few degrees apart.
std::vector<ray> bundles(std::vector<ray> const& rays, float size, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto const unit = [&random] { return static_cast<float>(random() >> 8) / 8388608.0F - 1; };
  auto const vector = [&] { return vec3f{unit(), unit(), unit()}; };
  std::vector<ray> made;
  for (std::size_t i = 0; i < rays.size(); i += 5) {
    auto const& [origin, direction] = rays[i];
    float const reach = std::max({std::abs(origin.x), std::abs(origin.y), std::abs(origin.z)});
    float const apart = i % 3 == 0 ? 0.0F : 0.02F, away = i % 2 == 0 ? 0.05F * size : 0.0F;
    for (int k = 0; k < packet; ++k) {
      vec3f from = origin + away * vector();
      for (float* const x : {&from.x, &from.y, &from.z}) *x = std::clamp(*x, -reach, reach);
      vec3f const towards = apart == 0 ? direction : normalized(direction + apart * vector());
      made.push_back({from, towards});
    }
  }
  return made;
}

struct many_found {
  std::vector<hit> hits;
  std::unique_ptr<bool[]> hidden;  // by anything up to the nearest hit, or up to just before it

  // `distances`: of the hits that are right
  many_found(renderer const& r, std::vector<ray> const& rays, std::vector<float> const& distances)
      : hits(rays.size()), hidden(std::make_unique<bool[]>(rays.size())) {
    r.closest(rays, hits);
    r.occluded(rays, distances, {hidden.get(), rays.size()});
  }
};

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

bool alike(many_found const& a, many_found const& b) {
  for (std::size_t i = 0; i < a.hits.size(); ++i) {
    auto const& [t, id] = a.hits[i];
    if (id != b.hits[i].id || bits_of(t) != bits_of(b.hits[i].t) || a.hidden[i] != b.hidden[i]) return false;
  }
  return true;
}

struct candidate {
  char const* name;
  accelerator structure;
  int plane_sets;
  char const* instructions;
};

constexpr std::array<candidate, 4> candidates{{{"slabs, 7 plane sets", accelerator::slabs, 7, ""},
                                               {"slabs, 3 plane sets", accelerator::slabs, 3, ""},
                                               {"bvh, portable", accelerator::bvh, 7, "portable"},
                                               {"bvh, avx2", accelerator::bvh, 7, "avx2"}}};

// Describes the accelerators that differ from brute force; empty if none does.
std::string differences(scene const& s, std::uint32_t seed, int depth = 5) {
  settings how;
  how.depth = depth;
  how.width = how.height = side;
  how.accelerator = accelerator::brute;
  renderer const brute(s, how);
  picture const expected(brute);
  auto const rays = probing_rays(s, seed);
  auto const many = bundles(rays, length(to_float(s.view.at - s.view.from)), seed);
  std::vector<float> distances;
  for (auto const& r : many) {
    float const t = brute.closest(r).t;
    distances.push_back(distances.size() % 2 == 0 ? t : std::nextafter(t, 0.0F));
  }
  many_found const right(brute, many, distances);
  std::string different;
  for (auto const& c : candidates) {
    if (find_kernel(*c.instructions == '\0' ? "portable" : c.instructions) == nullptr) continue;
    how.accelerator = c.structure;
    how.plane_sets = c.plane_sets;
    how.instructions = c.instructions;
    renderer const other(s, how);
    if (!(picture(other) == expected)) different += std::string(c.name) + ": another picture; ";
    if (!alike(many_found(other, many, distances), right))
      different += std::string(c.name) + ": another packet; ";
    for (auto const& r : rays) {
      auto const a = brute.closest(r), b = other.closest(r);
      if (a.id == b.id && bits_of(a.t) == bits_of(b.t)) continue;
      different += std::string(c.name) + ": another hit; ";
      break;
    }
  }
  return different;
}

void expect_none(std::string const& found) {
  INFO(found);
  CHECK(found.empty());
}

}  // namespace

TEST_CASE("every accelerator agrees with brute force on random scenes") {
  std::uint32_t const seeds =
      std::getenv("SKEL_LONG") != nullptr ? 1000 : 12;  // NOLINT(concurrency-mt-unsafe)
  for (auto const& where : placements) {
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      INFO(where.name << ", seed " << seed);
      expect_none(differences(scene_maker(seed, where).make(), seed));
    }
  }
}

// Rounds coordinates so that sums with numbers up to 2^20 are exact.
double rounded(double x) { return std::round(x * 0x1p32) * 0x1p-32; }

scene rounded(scene s) {
  auto const round = [](vec3d& p) { p = {rounded(p.x), rounded(p.y), rounded(p.z)}; };
  round(s.view.from);
  round(s.view.at);
  for (auto& l : s.lights) round(l.position);
  for (auto& v : s.vertices) round(v);
  for (auto& b : s.spheres) round(b.center);
  for (auto& c : s.cones) {
    round(c.base);
    round(c.apex);
  }
  return s;
}

std::vector<scene> scenes_to_place() {
  std::vector<scene> scenes{rounded(make_balls(2)), rounded(make_gears(1)), rounded(make_tetra(4))};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    scenes.push_back(rounded(scene_maker(seed, placements[0]).make()));
    scenes.push_back(rounded(scene_maker(seed, placements[1]).make()));
  }
  return scenes;
}

picture rendered(scene const& s) {
  settings how;
  how.width = how.height = side;
  return picture(renderer(s, how));
}

TEST_CASE("a scene scaled by a power of two has the same picture to the bit") {
  for (auto const& s : scenes_to_place()) {
    auto const expected = rendered(s);
    for (int const power : {-40, -20, -10, 10, 20, 40}) {
      INFO(s.name << " of " << s.primitives.size() << " primitives, scaled by 2^" << power);
      CHECK((rendered(placed(s, std::ldexp(1, power), {})) == expected));
    }
  }
}

TEST_CASE("a scene far from the origin has the same picture to the bit") {
  for (auto const& s : scenes_to_place()) {
    INFO(s.name << " of " << s.primitives.size() << " primitives");
    CHECK((rendered(placed(s, 1, {13000, -9000, 11000})) == rendered(s)));
  }
}

TEST_CASE("every accelerator agrees with brute force on a polygon with a repeated corner") {
  auto const world = parse_nff(
      "v from 3 -5 2.5 at 0 0 0 up 0 0 1 angle 90 hither 1 resolution 32 32\n"
      "l 4.984449899789007 -0.898007522968939 -0.28830723230247113\n"
      "f 0.15182722639472157 0.5600118038185601 0.06608786580726012 0 0.3 1 0 1.5\n"
      "p 5\n"
      "0.08664685911945647 1.7653644826431925 -1.1334836906210772\n"
      "0.08664685911945647 1.7653644826431925 -1.1334836906210772\n"
      "0.08664685911945647 0.6396918708008683 -0.3763163480149908\n"
      "0.08664685911945647 0.8434001804571173 -2.1730084252745936\n"
      "0.08664685911945647 1.7653644826431925 -1.1334836906210772\n",
      "x");
  expect_none(differences(world, 1));
}

// Reflected directions drift from length 1, which moves hits on spheres.
TEST_CASE("every accelerator agrees with brute force after sixty reflections") {
  std::uint32_t const seeds = std::getenv("SKEL_LONG") != nullptr ? 100 : 3;  // NOLINT(concurrency-mt-unsafe)
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    auto const unit = [&random] { return static_cast<double>(random()) / 2147483648.0 - 1; };
    scene hall;
    hall.view = {{0.9, -0.8, 0.7}, {0, 0, 0}, {0, 0, 1}, 90, 1, side, side};
    hall.lights.push_back({{0.2, 0.1, 0.9}, {}});
    hall.add_material({{1, 1, 1}, 0.1, 0.97, 3, 0, 1});
    hall.add(sphere{{0, 0, 0}, -2});
    for (int i = 0; i < 12; ++i) hall.add(sphere{{unit(), unit(), unit()}, 0.02 + 0.1 * (1 + unit())});
    INFO("seed " << seed);
    expect_none(differences(hall, seed, 60));
  }
}
