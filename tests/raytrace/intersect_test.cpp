// Distances and normals that can be computed by hand.
#include "intersect.hpp"

#include <cmath>
#include <string>

#include "catch.hpp"
#include "nff.hpp"
#include "renderer.hpp"

using namespace raytrace;

namespace {

constexpr vec3f eye{0, -9, 0};

renderer with(std::string const& shapes, accelerator a = accelerator::bvh) {
  settings how;
  how.width = how.height = 8;
  how.accelerator = a;
  return {
      parse_nff("v from 0 -9 0 at 0 0 0 up 0 0 1 angle 45 resolution 8 8 f 1 1 1 1 0 0 0 0 " + shapes, "x"),
      how};
}

float t_of(renderer const& r, vec3f origin, vec3f direction) {
  auto const h = r.closest({origin - eye, normalized(direction)});
  return h.id == no_hit ? -1 : h.t;
}

}  // namespace

TEST_CASE("sphere from outside, inside, beside and behind") {
  auto const r = with("s 0 0 0 2");
  CHECK(t_of(r, {0, -9, 0}, {0, 1, 0}) == Approx(7));
  CHECK(t_of(r, {0, 0, 0}, {0, 0, 1}) == Approx(2));
  CHECK(t_of(r, {0, -9, 1}, {0, 1, 0}) == Approx(9 - std::sqrt(3.0)));
  CHECK(t_of(r, {0, -9, 2.01F}, {0, 1, 0}) == -1);
  CHECK(t_of(r, {0, 9, 0}, {0, 1, 0}) == -1);
  CHECK(t_of(with("s 0 0 0 -2"), {0, -9, 0}, {0, 1, 0}) == Approx(7));
}

TEST_CASE("a small sphere far away") {
  auto const r = with("s 1000 1000 0 0.01");
  CHECK(t_of(r, {0, 0, 0}, {1, 1, 0}) == Approx(std::sqrt(2e6) - 0.01).epsilon(1e-6));
}

TEST_CASE("cylinder: mantle outside and inside, no caps") {
  auto const r = with("c 0 0 -1 1  0 0 1 1");
  CHECK(t_of(r, {0, -9, 0}, {0, 1, 0}) == Approx(8));
  CHECK(t_of(r, {0, 0, 0}, {1, 0, 0}) == Approx(1));
  CHECK(t_of(r, {0, -9, 1.001F}, {0, 1, 0}) == -1);
  CHECK(t_of(r, {0, 0, -9}, {0, 0, 1}) == -1);
  CHECK(t_of(r, {0, 0, -5}, {0.5F, 0, 5}) == -1);                           // in at one end, out at the other
  CHECK(t_of(r, {0, 0, -2}, {1, 0, 1.5F}) == Approx(std::sqrt(1 + 2.25)));  // in at the end, hits the mantle
}

TEST_CASE("cone: the mantle of x^2 + y^2 = (1 - z)^2") {
  auto const r = with("c 0 0 0 1  0 0 1 0");
  CHECK(t_of(r, {0, -9, 0.25F}, {0, 1, 0}) == Approx(9 - 0.75));
  CHECK(t_of(r, {0, -9, 1.25F}, {0, 1, 0}) == -1);  // the other nappe does not exist
  CHECK(t_of(r, {0.5F, 0, -9}, {0, 0, 1}) == Approx(9.5));
  CHECK(t_of(r, {0.5F, 0, 9}, {0, 0, -1}) == Approx(8.5));
  CHECK(t_of(r, {0.5F, 0, 0.2F}, {-1, 0, 1}) ==
        Approx(0.65 * std::sqrt(2.0)));  // parallel to the near side of the mantle, hits the far side
  CHECK(t_of(r, {0.1F, 0, 0.2F}, {1, 0, 1}) == Approx(0.35 * std::sqrt(2.0)));
}

// A cone so flat that it is a disc or a ring: exactly the rays through the disc meet it.
TEST_CASE("flat cones, seen at any slant, are discs and rings") {
  for (double const aspect : {1e-3, 1e-6, 1e-7, 1e-9, 1e-12, 1e-14})
    for (double const inner : {0.0, 0.5})
      for (double const slant : {0.0, 0.3, 1.2}) {
        vec3d const axis{std::sin(slant), -std::cos(slant), 0};
        scene s;
        s.view = {{0, -9, 0}, {0, 0, 0}, {0, 0, 1}, 15, 1, 64, 64};
        s.add_material({});
        s.add(cone{{0, 0, 0}, 1, aspect * axis, inner});
        settings how;
        how.width = how.height = 64;
        renderer const r(s, how);
        int wrong = 0, hits = 0;
        for (int y = 0; y < 64; ++y)
          for (int x = 0; x < 64; ++x) {
            auto const ray = r.primary(x, y);
            auto const d = to_double(ray.direction);
            vec3d const from{0, -9, 0};
            double const out = length(from - (dot(from, axis) / dot(d, axis)) * d);
            bool const hit = r.closest(ray).id != no_hit;
            hits += hit ? 1 : 0;
            double const rim = std::min(std::abs(out - 1), std::abs(out - inner));
            if (rim > 1e-5 + 20 * aspect) wrong += hit != (out < 1 && out > inner) ? 1 : 0;
          }
        INFO("aspect " << aspect << ", inner radius " << inner << ", slant " << slant);
        CHECK(wrong == 0);
        CHECK(hits > 200);
      }
}

TEST_CASE("an oblique frustum") {
  auto const r = with("c 1 2 3 2  4 6 3 1");  // axis (3, 4, 0) / 5, length 5
  vec3f const middle{2.5F, 4, 3};
  CHECK(t_of(r, middle + vec3f{0, 0, 10}, {0, 0, -1}) == Approx(10 - 1.5));
  CHECK(t_of(r, middle, {0, 0, -1}) == Approx(1.5));
}

TEST_CASE("polygons: inside, outside, concave, edge on") {
  auto const r = with("p 6  0 0 0  3 0 0  3 1 0  1 1 0  1 3 0  0 3 0");  // an L
  CHECK(t_of(r, {0.5F, 0.5F, 4}, {0, 0, -1}) == Approx(4));
  CHECK(t_of(r, {2.5F, 0.5F, -4}, {0, 0, 1}) == Approx(4));
  CHECK(t_of(r, {0.5F, 2.5F, 4}, {0, 0, -1}) == Approx(4));
  CHECK(t_of(r, {2, 2, 4}, {0, 0, -1}) == -1);
  CHECK(t_of(r, {-1, 0.5F, 0}, {1, 0, 0}) == -1);
}

TEST_CASE("no ray slips between the pieces of a polygon, or between polygons that share an edge") {
  std::string star = "p 40";
  for (int i = 0; i < 40; ++i) {
    double const a = i * 3.14159265358979 / 20, s = i % 2 == 0 ? 2 : 1;
    star += ' ' + std::to_string(s * std::cos(a)) + ' ' + std::to_string(s * std::sin(a)) + " 0.3";
  }
  auto const one = with(star);
  // a tent of four triangles over a square
  auto const tent = with(
      "p 3 -1 -1 0 1 -1 0 0.1 0.2 1  p 3 1 -1 0 1 1 0 0.1 0.2 1  p 3 1 1 0 -1 1 0 0.1 0.2 1  p 3 -1 1 0 -1 "
      "-1 0 0.1 0.2 1");
  int missed = 0;
  vec3f const apex{0.1F, 0.2F, 1};
  for (int i = 0; i < 20000; ++i) {
    float const a = static_cast<float>(i) * 0.0123F, s = 0.9F * static_cast<float>(i) / 20000;
    vec3f const target{s * std::cos(a), s * std::sin(a), 0.3F};
    missed += t_of(one, {3, -4, 7}, target - vec3f{3, -4, 7}) < 0 ? 1 : 0;
    // along the ridges, where a crack could be
    vec3f const corner{i % 2 == 0 ? 1.0F : -1.0F, i % 4 < 2 ? 1.0F : -1.0F, 0};
    vec3f const ridge = apex + s * (corner - apex);
    missed += t_of(tent, {0.3F, -0.4F, 7}, ridge - vec3f{0.3F, -0.4F, 7}) < 0 ? 1 : 0;
  }
  CHECK(missed == 0);
}

TEST_CASE("of two shapes at the same distance every accelerator hits the first in the file") {
  for (auto const a : {accelerator::bvh, accelerator::slabs, accelerator::brute}) {
    auto const r =
        with("s 5 5 5 1  p 4 -1 -1 0 1 -1 0 1 1 0 -1 1 0  p 3 -1 -1 0 1 -1 0 1 1 0  s 0 0 -1 1", a);
    CHECK(r.primitive_of(r.closest({vec3f{0.5F, -0.5F, 3} - eye, {0, 0, -1}}).id) == 1);
    CHECK(r.primitive_of(r.closest({vec3f{0, 0, 3} - eye, {0, 0, -1}}).id) == 1);
  }
}
