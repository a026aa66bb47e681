// Differences, tricubic cells, and that no cell with a surface is skipped.
#include <random>

#include "catch.hpp"
#include "cell_nodes.hpp"
#include "control_net.hpp"
#include "edge_root.hpp"
#include "sample_hulls.hpp"
#include "sampled.hpp"

namespace {

namespace iso = test::iso;
using rule = iso::difference_rule;

/// A whole volume as one layer: the slices of all layers.
struct whole {
  whole(test::axes const& at, test::formula const& f, rule how = rule::second)
      : open(test::volume(at, f)), options(test::order(3, {0})), grid(prepare(how), options) {
    auto const v = open();
    for (std::size_t z = 0; z < at[2].size(); ++z) {
      auto s = std::make_shared<iso::slice_rows>();
      s->samples.resize(v->header().slice_samples());
      v->read(std::span(s->samples));
      rows.slices.push_back(s);
    }
  }
  volume_data::volume_header prepare(rule how) {
    options.rule = how;
    return open()->header();
  }
  /// Returns the polynomial of a cell.
  iso::tricubic cell(std::array<std::size_t, 3> const& at) {
    rows.number = at[2];
    iso::layer_view const view(grid, rows);
    iso::cell_nodes nodes(grid, view);
    return iso::hermite(nodes.corners(at[0], at[1]), nodes.sides(at[0], at[1]));
  }
  iso::open_function open;
  iso::surface_options options;
  iso::node_grid grid;
  iso::layer_rows rows;
};

/// The derivative of order d[a] along each axis, at u in the unit cube, from the definition.
double derivative(iso::tricubic const& cell, std::array<int, 3> const& d, std::array<double, 3> const& u) {
  auto const basis = [](std::size_t i, int order, double t) {  // B_i and its derivative, by powers of t
    constexpr std::array<std::array<double, 4>, 4> power{
        {{1, -3, 3, -1}, {0, 3, -6, 3}, {0, 0, 3, -3}, {0, 0, 0, 1}}};
    auto const& c = power[i];
    return order == 0 ? c[0] + t * (c[1] + t * (c[2] + t * c[3])) : c[1] + t * (2 * c[2] + t * 3 * c[3]);
  };
  double sum = 0;
  for (std::size_t i = 0; i < 64; ++i)
    sum += cell.b[i] * basis(i % 4, d[0], u[0]) * basis(i / 4 % 4, d[1], u[1]) * basis(i / 16, d[2], u[2]);
  return sum;
}

/// The greatest difference from f at random points of cells at least `margin` cells inside the box.
double greatest_error(std::size_t n, test::formula const& f, rule how, std::size_t margin) {
  whole w(test::evenly({n + 1, n + 1, n + 1}, 0, 1), f, how);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit;
  double worst = 0;
  for (int i = 0; i < 3000; ++i) {
    std::array<std::size_t, 3> at{};
    std::array<double, 3> u{}, x{};
    for (std::size_t a = 0; a < 3; ++a) {
      at[a] = margin + random() % (n - 2 * margin);
      u[a] = unit(random);
      x[a] = (static_cast<double>(at[a]) + u[a]) / static_cast<double>(n);
    }
    worst = std::max(worst, std::abs(w.cell(at).value(u) - f(x[0], x[1], x[2])));
  }
  return worst;
}

double smooth(double x, double y, double z) { return std::sin(3 * x + 1) * std::cos(2 * y) * std::exp(z); }

}  // namespace

TEST_CASE(
    "differences: exact for polynomials of their degree on any points; the paper's are of first order at the "
    "ends") {
  std::vector<double> const at{0, 1, 3, 3.5, 7, 8, 10};
  for (auto const& [how, degree] : {std::pair{rule::second, 2}, std::pair{rule::fourth, 4}})
    for (std::size_t i = 0; i < at.size(); ++i) {
      auto const s = iso::difference(at, i, how);
      for (int power = 0; power <= degree; ++power) {
        double sum = 0;
        for (std::size_t j = 0; j < s.count; ++j) sum += s.weights[j] * std::pow(at[s.first + j], power);
        CHECK(sum == Approx(power == 0 ? 0 : power * std::pow(at[i], power - 1)).margin(1e-9));
      }
    }
  CHECK(iso::difference(at, 0, rule::paper).count == 2);
  CHECK(iso::difference(at, 6, rule::paper).first == 5);
  CHECK(iso::difference(at, 3, rule::paper).count == 3);
  std::vector<double> const two{1, 3};
  CHECK(iso::difference(two, 1, rule::fourth).weights[1] == 0.5);
}

TEST_CASE("the mixed differences of f = xy, yz, xyz are right, unlike the paper's") {
  whole w(test::counted({3, 3, 3}), [](double x, double y, double z) {
    return (x - 1) * (y - 1) + 2 * (y - 1) * (z - 1) + 3 * (x - 1) * (z - 1) +
           4 * (x - 1) * (y - 1) * (z - 1);
  });
  auto const d = iso::node_derivatives(w.grid, iso::layer_view(w.grid, w.rows), {1, 1, 1});
  CHECK(d == iso::node_data{0, 0, 0, 1, 0, 3, 2, 4});
}

TEST_CASE("polynomials are reproduced: degree 2 per axis with differences of order 2, 3 with order 4") {
  auto const square = [](double x, double y, double z) { return x * x * y * y * z * z; };
  auto const cube = [](double x, double y, double z) { return x * x * x * y * y * y * z * z * z; };
  auto at = test::counted({7, 6, 7});
  at[0] = {0, 1, 2, 4, 5, 6, 7};  // uneven
  for (auto const& [f, how, exact] : {std::tuple{test::formula(square), rule::second, true},
                                      std::tuple{test::formula(square), rule::paper, false},
                                      std::tuple{test::formula(cube), rule::fourth, true},
                                      std::tuple{test::formula(cube), rule::second, false}}) {
    whole w(at, f, how);
    double worst = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      std::array<std::size_t, 3> const cell{i, i % 5, 5 - i};
      std::array<double, 3> const u{0.3, 0.6, 0.2};
      auto const x = [&](std::size_t a) { return std::lerp(at[a][cell[a]], at[a][cell[a] + 1], u[a]); };
      double const wanted = f(x(0), x(1), x(2));
      worst = std::max(worst, std::abs(w.cell(cell).value(u) - wanted) / (1 + std::abs(wanted)));
    }
    CHECK((worst < 1e-10) == exact);
  }
}

TEST_CASE("orders of accuracy") {
  auto const order = [](rule how, std::size_t margin) {
    return std::log2(greatest_error(8, smooth, how, margin) / greatest_error(16, smooth, how, margin));
  };
  CHECK(order(rule::second, 1) > 2.7);
  CHECK(order(rule::second, 0) > 2.5);
  CHECK(order(rule::fourth, 0) > 3.6);
  CHECK(order(rule::paper, 0) < 2.5);  // first order at the ends reduces the order everywhere
}

TEST_CASE("neighbours agree on their face: value, gradient and mixed derivatives") {
  whole w(test::evenly({6, 5, 7}, 0, 2), test::noise);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit;
  auto const differ = [&](iso::tricubic const& a, iso::tricubic const& b, std::size_t axis) {
    double worst = 0;
    for (int i = 0; i < 10; ++i) {
      std::array<double, 3> u{unit(random), unit(random), unit(random)}, v = u;
      u[axis] = 1, v[axis] = 0;
      for (int d = 0; d < 8; ++d) {
        std::array<int, 3> const by{d & 1, (d >> 1) & 1, d >> 2};
        worst = std::max(worst, std::abs(derivative(a, by, u) - derivative(b, by, v)));
      }
    }
    return worst;
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (int i = 0; i < 6; ++i) {
      std::array<std::size_t, 3> at{random() % 4, random() % 3, random() % 5}, next = at;
      ++next[axis];
      auto a = w.cell(at);
      auto const b = w.cell(next);
      CHECK(differ(a, b, axis) < 1e-12);
      for (std::size_t c = 0; c < 64; ++c) {  // a changed coefficient is detected if it belongs to the face
        auto broken = a;
        broken.b[c] += 1e-6;
        auto const place = std::array{c % 4, c / 4 % 4, c / 16}[axis];
        CHECK((differ(broken, b, axis) > 1e-8) == (place >= 2));
      }
      std::array<double, 3> const u{unit(random), unit(random), unit(random)};
      CHECK(a.value(u) == Approx(derivative(a, {0, 0, 0}, u)));
      CHECK(a.gradient(u)[1] == Approx(derivative(a, {0, 1, 0}, u)));
    }
}

TEST_CASE("divided cells represent the same polynomial, with bitwise equal shared faces") {
  whole w(test::evenly({4, 4, 4}, 0, 1), test::noise);
  auto const a = w.cell({0, 1, 1}), b = w.cell({1, 1, 1});
  for (int level = 0; level <= 3; ++level) {
    iso::control_net left(level), right(level);
    left.divide(a), right.divide(b);
    auto const n = left.points();
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) REQUIRE(*left.at(n - 1, j, k) == *right.at(0, j, k));
    auto const parts = left.parts();
    auto const half = parts / 2;
    auto const part = left.part(parts - 1, half, 0);
    double const h = 1.0 / static_cast<double>(parts);
    std::array<double, 3> const u{0.3, 0.9, 0.4};
    std::array<double, 3> const in_cell{1 - h + h * u[0], (static_cast<double>(half) + u[1]) * h, h * u[2]};
    CHECK(part.value(u) == Approx(a.value(in_cell)).epsilon(1e-12));
  }
}

TEST_CASE("cells are skipped only if dense sampling finds nothing; corner signs would miss some") {
  whole w(test::counted({10, 10, 10}), test::noise);
  int missed_by_corners = 0, active = 0;
  for (std::size_t z = 0; z < 9; ++z) {
    w.rows.number = z;
    iso::layer_view const view(w.grid, w.rows);
    iso::sample_hulls bounds(w.grid, view);
    for (std::size_t y = 0; y < 9; ++y) {
      bounds.find(y);
      for (std::size_t x = 0; x < 9; ++x) {
        auto const cell = w.cell({x, y, z});
        auto const around = iso::hull_of(cell), wide = bounds.of(x);
        CHECK(wide.low <= around.low);
        CHECK(wide.high >= around.high);
        bool any_above = false, any_below = false, corner_above = false, corner_below = false;
        for (int i = 0; i < 9 * 9 * 9; ++i) {
          std::array const at{i % 9, i / 9 % 9, i / 81};
          std::array const u{at[0] / 8.0, at[1] / 8.0, at[2] / 8.0};
          bool const corner = at[0] % 8 == 0 && at[1] % 8 == 0 && at[2] % 8 == 0;
          double const f = cell.value(u);
          (f >= 0.9 ? any_above : any_below) = true;
          if (corner) (f >= 0.9 ? corner_above : corner_below) = true;
        }
        active += around.straddles(0.9) ? 1 : 0;
        if (any_above && any_below) CHECK(around.straddles(0.9));
        missed_by_corners += any_above && any_below && !(corner_above && corner_below) ? 1 : 0;
      }
    }
  }
  CHECK(missed_by_corners > 10);
  CHECK(active < 729);
}

TEST_CASE("the root of a cubic on an edge") {
  for (auto const& b : {std::array{0.0, 0.0, 0.0, 1.0}, std::array{1.0, -5.0, 6.0, 0.0},
                        std::array{-1.0, 9.0, -9.0, 1.0}, std::array{0.0, 1.0, 1.0, 1.0}}) {
    for (double const value : {0.0, 0.25, 0.5, 1.0}) {
      double const t = iso::edge_root(b, value);
      CHECK((t >= 0 && t <= 1));
      CHECK(iso::cubic(b, t) == Approx(value).margin(1e-14));
    }
  }
}
