#include "skel/applications/make_mesh.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"
#include "skel/run_threads.hpp"

namespace {

isosurface::surface mesh(int ranks, volume_data::grid_values const& grid, double value,
                         isosurface::mesh_settings const& how = {}) {
  isosurface::surface kept;
  skel::run_threads(ranks, [&](skel::context& ctx) {
    auto made = isosurface::make_mesh(ctx, grid, value, how);
    if (ctx.is_root())
      kept = std::move(made);
    else
      CHECK(made.triangles.empty());
  });
  return kept;
}

double area(isosurface::surface const& s) {
  double sum = 0;
  for (auto const& [a, b, c] : s.triangles) {
    auto const &p = s.positions[a], &q = s.positions[b], &r = s.positions[c];
    double const u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]},
                 v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
    sum += 0.5 * std::sqrt(std::pow(u[1] * v[2] - u[2] * v[1], 2) + std::pow(u[2] * v[0] - u[0] * v[2], 2) +
                           std::pow(u[0] * v[1] - u[1] * v[0], 2));
  }
  return sum;
}

std::vector<float> ramp(std::size_t n) {  // the index along x
  std::vector<float> values;
  for (std::size_t i = 0; i < n * n * n; ++i) values.push_back(static_cast<float>(i % n));
  return values;
}

}  // namespace

TEST_CASE("make_mesh finds a plane where the values say, on any number of ranks") {
  auto const values = ramp(6);
  for (bool const smooth : {false, true}) {
    auto const plane = mesh(1, {values, {6, 6, 6}}, 2.5, {.smooth = smooth});
    for (auto const& p : plane.positions) CHECK(std::abs(p[0] - 2.5F) < 1e-5F);
    for (auto const& n : plane.normals) CHECK(std::abs(n[0] + 1) < 1e-5F);  // to lower values
    CHECK(std::abs(area(plane) - 25) < 1e-4);
    for (int const ranks : {2, 3, 7}) {
      auto const again = mesh(ranks, {values, {6, 6, 6}}, 2.5, {.smooth = smooth});
      CHECK((again.positions == plane.positions && again.normals == plane.normals &&
             again.triangles == plane.triangles));
    }
  }
}

TEST_CASE("make_mesh uses coordinates, and makes no surface where there is none") {
  auto const values = ramp(3);
  auto const plane = mesh(2, {values, {3, 3, 3}, {{{0, 10, 30}, {}, {0, 1, 5}}}}, 1.5);
  for (auto const& p : plane.positions) CHECK(std::abs(p[0] - 20) < 1e-4F);
  CHECK(std::abs(area(plane) - 10) < 1e-4);
  CHECK(mesh(2, {values, {3, 3, 3}}, 7).triangles.empty());
}

TEST_CASE("make_mesh stays within a tolerance of a ball, with fewer triangles than the level") {
  std::size_t const n = 17;
  std::vector<float> values;  // the squared distance from the middle
  for (std::size_t i = 0; i < n * n * n; ++i) {
    auto const square = [&](std::size_t at) { return std::pow(static_cast<double>(at % n) - 8, 2); };
    values.push_back(static_cast<float>(square(i) + square(i / n) + square(i / n / n)));
  }
  volume_data::grid_values const grid{values, {n, n, n}};
  auto const fine = mesh(1, grid, 36, {.smooth = true, .level = 2});
  auto const ball = mesh(1, grid, 36, {.smooth = true, .tolerance = 0.02});
  CHECK(3 * ball.triangles.size() < fine.triangles.size());
  for (auto const& triangle : ball.triangles) {
    double middle = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      double sum = 0;
      for (auto const v : triangle) sum += ball.positions[v][a];
      middle += std::pow(sum / 3 - 8, 2);
    }
    CHECK(std::abs(std::sqrt(middle) - 6) < 0.03);
  }
  for (int const ranks : {2, 3}) {
    auto const again = mesh(ranks, grid, 36, {.smooth = true, .tolerance = 0.02});
    CHECK((again.positions == ball.positions && again.normals == ball.normals &&
           again.triangles == ball.triangles));
  }
}

TEST_CASE("make_mesh refuses values and settings that do not fit") {
  auto const values = ramp(3);
  CHECK_THROWS_AS(mesh(1, {values, {3, 3, 2}}, 1), skel::usage_error);
  CHECK_THROWS_AS(mesh(1, {values, {27, 1, 1}}, 1), skel::usage_error);
  CHECK_THROWS_AS(mesh(2, {values, {3, 3, 3}}, std::numeric_limits<double>::quiet_NaN()), skel::usage_error);
  CHECK_THROWS_AS(mesh(1, {values, {3, 3, 3}}, 1, {.smooth = true, .level = 7}), skel::usage_error);
  CHECK_THROWS_AS(mesh(1, {values, {3, 3, 3}}, 1, {.tolerance = 0.1}), skel::usage_error);
  CHECK_THROWS_AS(mesh(1, {values, {3, 3, 3}}, 1, {.smooth = true, .tolerance = -1}), skel::usage_error);
}

TEST_CASE("make_mesh refuses ranks that pass different values or settings") {
  auto const values = ramp(6);
  auto const meshed = [&](auto const& call) {
    skel::run_threads(3, [&](skel::context& ctx) { static_cast<void>(call(ctx, ctx.is_root())); });
  };
  using isosurface::make_mesh;
  volume_data::grid_values const grid{values, {6, 6, 6}};
  CHECK_THROWS_AS(meshed([&](auto& ctx, bool root) { return make_mesh(ctx, grid, root ? 2.5 : 1.5); }),
                  skel::usage_error);
  CHECK_THROWS_AS(meshed([&](auto& ctx, bool root) {
                    return make_mesh(ctx, grid, 2.5, {.smooth = true, .level = root ? 1 : 2});
                  }),
                  skel::usage_error);
  std::vector<float> changed = values;
  changed[100] = 7;
  CHECK_THROWS_AS(meshed([&](auto& ctx, bool root) {
                    return make_mesh(ctx, {root ? values : changed, {6, 6, 6}}, 2.5);
                  }),
                  skel::usage_error);
}

TEST_CASE("make_mesh counts the cells without a value") {
  auto values = ramp(3);
  values[13] = std::numeric_limits<float>::quiet_NaN();  // the middle: a corner of all eight cells
  auto const none = mesh(2, {values, {3, 3, 3}}, 0.5);
  CHECK(none.triangles.empty());
  CHECK(none.holes == 8);
}
