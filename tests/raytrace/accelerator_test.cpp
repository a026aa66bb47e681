// The accelerators agree to the bit, and with an independent search: all primitives of the scene,
// in double, polygons by the even-odd rule, without pieces, packets or bounding volumes.
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "kernel.hpp"
#include "nff.hpp"
#include "placed.hpp"
#include "renderer.hpp"
#include "spd.hpp"

using namespace raytrace;

namespace {

renderer made(scene const& s, accelerator a, int plane_sets = 7, std::string const& instructions = {}) {
  settings how;
  how.width = how.height = 96;
  how.accelerator = a;
  how.plane_sets = plane_sets;
  how.instructions = instructions;
  return {s, how};
}

// All rays are relative to the eye, as the renderer's.

// Rays along the axes through corners of polygons: edge on, in planes of slabs, decided by a single
// rounding.
std::vector<ray> hard_rays(scene const& s) {
  std::vector<ray> rays;
  for (std::size_t i = 0; i < 2000; ++i) {
    vec3f axis{};
    (i % 3 == 0 ? axis.x : i % 3 == 1 ? axis.y : axis.z) = i % 2 == 0 ? 1.0F : -1.0F;
    rays.push_back({to_float(s.vertices[i % s.vertices.size()] - s.view.from) - 3.0F * axis, axis});
  }
  return rays;
}

// Primary rays, rays between points around the scene, rays along the axes.
std::vector<ray> usual_rays(scene const& s, renderer const& r) {
  std::vector<ray> rays;
  for (int y = 0; y < 96; y += 2) {
    for (int x = y / 2 % 2; x < 96; x += 2) rays.push_back(r.primary(x, y));
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<float> around(-1.2F, 1.2F);
  for (int i = 0; i < 2000; ++i) {
    vec3f const middle = to_float(s.view.at - s.view.from);
    vec3f const from = middle + vec3f{around(random), around(random), around(random)};
    vec3f const to = middle + vec3f{around(random), around(random), around(random)};
    rays.push_back({from, normalized(to - from)});
    vec3f axis{};
    (i % 3 == 0 ? axis.x : i % 3 == 1 ? axis.y : axis.z) = i % 2 == 0 ? 1.0F : -1.0F;
    rays.push_back({from, axis});
  }
  return rays;
}

// Primary rays in blocks of 4 x 4 pixels, and the hard rays with equal directions side by side: these are
// traced in packets.
std::vector<ray> packets_of(scene const& s, renderer const& r) {
  std::vector<ray> rays;
  for (int y = 0; y < 96; y += 4)
    for (int x = 0; x < 96; x += 4)
      for (int k = 0; k < 16; ++k) rays.push_back(r.primary(x + k % 4, y + k / 4));
  auto const hard = hard_rays(s);
  for (std::size_t kind = 0; kind < 6; ++kind)
    for (std::size_t i = kind; i < hard.size(); i += 6) rays.push_back(hard[i]);
  return rays;
}

double sphere_distance(sphere const& s, vec3d o, vec3d d) {
  vec3d const q = o - s.center;
  double const b = dot(q, d), c = dot(q, q) - s.radius * s.radius, e = b * b - c;
  if (e < 0) return -1;
  return -b - std::sqrt(e) > 0 ? -b - std::sqrt(e) : -b + std::sqrt(e);
}

double polygon_distance(scene const& s, polygon const& p, vec3d o, vec3d d) {
  auto const corner = [&](std::uint32_t i) { return s.vertices[p.first + i % p.vertices]; };
  vec3d const n = cross(corner(1) - corner(0), corner(2) - corner(1));  // NFF: the first two edges are convex
  double const t = dot(n, corner(0) - o) / dot(n, d);
  if (!(t > 0) || !std::isfinite(t)) return -1;
  vec3d const at = o + t * d;
  double const ax = std::abs(n.x), ay = std::abs(n.y), az = std::abs(n.z);
  auto const u = [&](vec3d v) { return az >= ax && az >= ay ? v.x : ay >= ax ? v.z : v.y; };
  auto const w = [&](vec3d v) { return az >= ax && az >= ay ? v.y : ay >= ax ? v.x : v.z; };
  bool inside = false;
  for (std::uint32_t i = 0; i < p.vertices; ++i) {
    vec3d const a = corner(i), b = corner(i + 1);
    if ((w(a) > w(at)) == (w(b) > w(at))) continue;
    if (u(at) < u(a) + (w(at) - w(a)) / (w(b) - w(a)) * (u(b) - u(a))) inside = !inside;
  }
  return inside ? t : -1;
}

struct found {
  double t = -1;
  std::uint32_t primitive = no_hit;
};

found search(scene const& s, ray const& r) {
  vec3d const o = s.view.from + to_double(r.origin), d = normalized(to_double(r.direction));
  found best;
  for (std::uint32_t i = 0; i < s.primitives.size(); ++i) {
    auto const& p = s.primitives[i];
    double const t = p.kind == shape::sphere ? sphere_distance(s.spheres[p.index], o, d)
                                             : polygon_distance(s, s.polygons[p.index], o, d);
    if (t > 0 && (best.primitive == no_hit || t < best.t)) best = {t, i};
  }
  return best;
}

void check_scene(scene const& s) {
  auto const brute = made(s, accelerator::brute);
  std::vector<renderer> others;
  others.push_back(made(s, accelerator::slabs, 7));
  others.push_back(made(s, accelerator::slabs, 3));
  others.push_back(made(s, accelerator::bvh, 7, "portable"));
  if (find_kernel("avx2") != nullptr) others.push_back(made(s, accelerator::bvh, 7, "avx2"));
  std::size_t different = 0, unlike_search = 0;
  auto const compare = [&](ray const& r) {
    auto const expected = brute.closest(r);
    for (auto const& other : others) {
      auto const h = other.closest(r);
      different += h.id != expected.id || h.t != expected.t ? 1 : 0;
    }
    return expected;
  };
  for (auto const& r : hard_rays(s)) (void)compare(r);
  auto const together = packets_of(s, brute);
  std::vector<hit> expected_hits(together.size());
  brute.closest(together, expected_hits);
  std::vector<float> distances;
  for (auto const& h : expected_hits)
    distances.push_back(distances.size() % 2 == 0 ? h.t : std::nextafter(h.t, 0.0F));
  for (auto const& other : others) {
    std::vector<hit> hits(together.size());
    auto const hidden = std::make_unique<bool[]>(together.size());
    other.closest(together, hits);
    other.occluded(together, distances, {hidden.get(), together.size()});
    for (std::size_t i = 0; i < together.size(); ++i) {
      auto const& h = expected_hits[i];
      different += hits[i].id != h.id || hits[i].t != h.t ? 1 : 0;
      different += hidden[i] != (h.id != no_hit && i % 2 == 0) ? 1 : 0;
    }
  }
  auto const rays = usual_rays(s, brute);
  for (auto const& r : rays) {
    auto const expected = compare(r);
    auto const reference = search(s, r);
    bool const missed = expected.id == no_hit;
    if (missed != (reference.primitive == no_hit)) {
      ++unlike_search;
    } else if (!missed) {
      // at an edge either neighbour may be found; then the distance decides
      bool const same = brute.primitive_of(expected.id) == reference.primitive;
      double const error = std::abs(static_cast<double>(expected.t) - reference.t);
      unlike_search += error > 2e-4 * (1 + reference.t) || (!same && error > 1e-5) ? 1 : 0;
    }
  }
  CHECK(different == 0);
  // Within a rounding error of an outline both results are valid.
  CHECK(unlike_search <= 5);
}

}  // namespace

TEST_CASE("balls: every accelerator finds the same shape at the same distance") {
  check_scene(make_balls(2));
}
TEST_CASE("gears: every accelerator finds the same shape at the same distance") {
  check_scene(make_gears(1));
}
TEST_CASE("tetra: every accelerator finds the same shape at the same distance") {
  check_scene(make_tetra(4));
}
TEST_CASE("the same shapes far from the origin") {
  vec3d const away{13000, -9000, 11000};
  check_scene(placed(make_balls(2), 1, away));
  check_scene(placed(make_gears(1), 1, away));
  check_scene(placed(make_tetra(4), 1, away));
}

TEST_CASE("the same picture to the bit from every accelerator, by rows and by tiles of any size") {
  auto world = make_gears(2, gears_material::published);
  world.add_material({{1, 1, 1}, 0.5, 0.3, 10, 0.4, 1.5});
  world.add(sphere{{-0.3, -1.2, 1.2}, 0.25});
  world.add(cone{{0.5, -1.2, 1}, 0.3, {0.6, -1.2, 1.5}, 0.1});
  auto const size = std::size_t{3} * 96 * 96;
  std::vector<float> expected(size);
  ray_counts counts;
  made(world, accelerator::bvh).render_tile(0, 0, 96, 96, expected, counts);
  CHECK(counts.refracted > 0);
  for (auto const& [a, sets] : {std::pair{accelerator::slabs, 7}, {accelerator::slabs, 3}}) {
    std::vector<float> picture(size);
    ray_counts c;
    made(world, a, sets).render_tile(0, 0, 96, 96, picture, c);
    CHECK(picture == expected);
    CHECK(c == counts);
  }
  auto const portable = made(world, accelerator::bvh, 7, "portable");
  std::vector<float> rows(size);
  ray_counts row_counts;
  for (int y = 95; y >= 0; --y) {
    portable.render_row(y, std::span(rows).subspan(static_cast<std::size_t>(y) * 288, 288), row_counts);
  }
  CHECK(rows == expected);
  CHECK(row_counts == counts);
  auto const best = made(world, accelerator::bvh);
  for (auto const& [w, h] : {std::pair{7, 13}, {32, 32}, {96, 1}, {1, 96}, {50, 60}}) {
    std::vector<float> picture(size);
    ray_counts c;
    for (int y = 0; y < 96; y += h) {
      for (int x = 0; x < 96; x += w) {
        int const x1 = std::min(96, x + w), y1 = std::min(96, y + h);
        std::vector<float> tile(std::size_t{3} * static_cast<std::size_t>(x1 - x) *
                                static_cast<std::size_t>(y1 - y));
        best.render_tile(x, y, x1, y1, tile, c);
        for (int row = y; row < y1; ++row) {
          auto const wide = std::ptrdiff_t{3} * (x1 - x);
          std::copy_n(tile.begin() + wide * (row - y), wide,
                      picture.begin() + std::ptrdiff_t{3} * (row * 96 + x));
        }
      }
    }
    CHECK(picture == expected);
    CHECK(c == counts);
  }
}

TEST_CASE("the same picture from brute force, on a small scene") {
  auto const world = make_balls(1);
  std::vector<float> a(std::size_t{3} * 96 * 96), b(a.size());
  ray_counts ca, cb;
  made(world, accelerator::bvh).render_tile(0, 0, 96, 96, a, ca);
  made(world, accelerator::brute).render_tile(0, 0, 96, 96, b, cb);
  CHECK(a == b);
  CHECK(ca == cb);
}

TEST_CASE("accelerators by name") {
  CHECK(accelerator_named("bvh") == accelerator::bvh);
  CHECK(accelerator_named("slabs") == accelerator::slabs);
  CHECK_THROWS_WITH(accelerator_named("octree"), "unknown accelerator \"octree\"; known: bvh, slabs, brute");
}

TEST_CASE("settings out of range are refused") {
  auto const world = make_balls(0);
  settings how;
  how.width = 0;
  CHECK_THROWS_WITH(renderer(world, how), "an image needs a width of 1 to 65536, found \"0\"");
  how = {};
  how.depth = -1;
  CHECK_THROWS_WITH(renderer(world, how), "the depth needs to be 0 to 100, found \"-1\"");
  how = {};
  how.plane_sets = 5;
  CHECK_THROWS_WITH(renderer(world, how), "slabs need 3 or 7 plane sets, found \"5\"");
  how = {};
  how.instructions = "mmx";
  CHECK_THROWS_WITH(renderer(world, how), "--instructions: not available on this processor: \"mmx\"");
}
