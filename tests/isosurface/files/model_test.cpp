// Model files: evaluation gives the polynomial that was written, and all damage is detected.
#include <sys/resource.h>

#include <cstring>
#include <random>

#include "catch.hpp"
#include "piecewise_model.hpp"
#include "skel/error.hpp"
#include "temporary_file.hpp"

using namespace isosurface;
using test::bytes_of;
using test::put;
using test::temporary;

namespace {

/// (1 + 2 x - x^2 + x^3 / 2) (3 - y + y^3) (1 - z^2 + z^3 / 4), or only its linear terms.
struct polynomial {
  int order;
  [[nodiscard]] std::array<double, 2> along(std::size_t axis, double t) const {  // value and slope
    constexpr std::array<std::array<double, 4>, 3> c{{{1, 2, -1, 0.5}, {3, -1, 0, 1}, {1, 0.5, -1, 0.25}}};
    auto const& k = c[axis];
    if (order == 1) return {k[0] + k[1] * t, k[1]};
    return {k[0] + t * (k[1] + t * (k[2] + t * k[3])), k[1] + t * (2 * k[2] + t * 3 * k[3])};
  }
  [[nodiscard]] double operator()(vector3 const& p, std::array<int, 3> const& derivatives) const {
    double product = 1;
    for (std::size_t a = 0; a < 3; ++a) product *= along(a, p[a])[static_cast<std::size_t>(derivatives[a])];
    return product;
  }
};

model_header uneven(int order) { return {order, {{{-1, 0, 0.25, 2}, {0, 0.5, 1.5}, {-2, -1, 0, 0.5, 3}}}}; }

void write(std::string const& path, model_header const& h) {
  polynomial const f{h.order};
  model_writer writer(path, h);
  for (auto const z : h.coordinates[2]) {
    std::vector<double> slice;
    for (auto const y : h.coordinates[1])
      for (auto const x : h.coordinates[0])
        for (int d = 0; d < (h.order == 1 ? 1 : 8); ++d)
          slice.push_back(f({x, y, z}, {d & 1, d >> 1 & 1, d >> 2 & 1}));
    writer.add(slice);
  }
  writer.commit();
}

/// Opens a model and reads everything.
std::string error_of(std::string const& path) {
  try {
    model_reader const file(path);
    std::vector<double> slice(file.header().slice_numbers());
    for (std::size_t k = 0; k < file.header().slices(); ++k) file.read(k, slice);
  } catch (skel::usage_error const& e) {  // other errors fail the test
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a model file reproduces the polynomial and its gradient everywhere") {
  auto const path = temporary("a");
  for (int const order : {1, 3}) {
    auto const h = uneven(order);
    write(path, h);
    piecewise_model model(path);
    CHECK(model.header().order == order);
    CHECK(model.header().coordinates == h.coordinates);
    polynomial const f{order};
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
      vector3 p;
      for (std::size_t a = 0; a < 3; ++a) {
        auto const& c = h.coordinates[a];
        p[a] = std::uniform_real_distribution<double>(c.front(), c.back())(random);
        if (i % 4 == 0) p[a] = c[random() % c.size()];  // on nodes, edges, faces, and the boundary
      }
      auto const s = model.at(p);
      REQUIRE(s.value == Approx(f(p, {0, 0, 0})).margin(1e-11));
      REQUIRE(s.gradient[0] == Approx(f(p, {1, 0, 0})).margin(1e-10));
      REQUIRE(s.gradient[1] == Approx(f(p, {0, 1, 0})).margin(1e-10));
      REQUIRE(s.gradient[2] == Approx(f(p, {0, 0, 1})).margin(1e-10));
    }
    CHECK_FALSE(model.contains({-1.01, 0, 0}));
    CHECK_FALSE(model.contains({0, std::nan(""), 0}));
    CHECK_THROWS_AS(model.at({0, 0, 3.01}), skel::usage_error);
  }
  std::filesystem::remove(path);
}

TEST_CASE("the file has the documented layout") {
  auto const path = temporary("layout");
  auto const h = uneven(3);
  write(path, h);
  auto const bytes = bytes_of(path);
  std::size_t at = 0;
  auto const next = [&](auto value) {
    REQUIRE(at + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  CHECK(bytes.substr(0, 8) == "SKELMODL");
  at = 8;
  CHECK(next(std::uint32_t{}) == 0x01020304);
  CHECK(next(std::uint32_t{}) == 1);
  CHECK(next(std::uint32_t{}) == 3);
  CHECK(next(std::uint32_t{}) == 8);
  for (auto const& c : h.coordinates) CHECK(next(std::uint64_t{}) == c.size());
  for (auto const& c : h.coordinates)
    for (auto const v : c) CHECK(next(double{}) == v);
  next(std::uint64_t{});
  CHECK(bytes.size() == at + 5 * (4 * 3 * 8 * 8 + 8));
  at += 8 * 8;  // the second node of the first slice, at (0, 0, -2)
  CHECK(next(double{}) == polynomial{3}({0, 0, -2}, {0, 0, 0}));
  CHECK(next(double{}) == polynomial{3}({0, 0, -2}, {1, 0, 0}));
  at += 5 * 8;
  CHECK(next(double{}) == polynomial{3}({0, 0, -2}, {1, 1, 1}));
  std::filesystem::remove(path);
}

TEST_CASE("a model is written completely or not at all") {
  auto const path = temporary("part");
  auto const h = uneven(1);
  {
    model_writer writer(path, h);
    writer.add(std::vector<double>(h.slice_numbers()));
    CHECK_THROWS_AS(writer.add(std::vector<double>(h.slice_numbers() - 1)), skel::error);
    CHECK_THROWS_AS(writer.commit(), skel::error);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("truncated, extended or changed files give an error of one line") {
  auto const path = temporary("damaged");
  write(path, uneven(1));
  auto const whole = bytes_of(path);
  CHECK(error_of(path) == "no error");
  auto const check = [&](std::string const& bytes) {
    put(path, bytes);
    auto const text = error_of(path);
    CHECK(text.find(path + ": at byte ") == 0);
    CHECK(text.find('\n') == std::string::npos);
  };
  for (std::size_t n = 0; n < whole.size(); n += 3) check(whole.substr(0, n));
  check(whole + "x");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 1 << i % 8);
    check(bytes);
  }
  auto swapped = whole;  // two slices swapped
  constexpr std::size_t slice = 4 * 3 * 8 + 8;
  auto const begin = whole.size() - 5 * slice;
  std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(begin),
                   swapped.begin() + static_cast<std::ptrdiff_t>(begin + slice),
                   swapped.begin() + static_cast<std::ptrdiff_t>(begin + slice));
  check(swapped);
  std::filesystem::remove(path);
  CHECK(error_of(path).find("No such file") != std::string::npos);
}

TEST_CASE("sizes claimed by a model are not trusted") {
  auto const path = temporary("sizes");
  write(path, uneven(3));
  auto const whole = bytes_of(path);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (std::uint64_t const n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5},
                                std::uint64_t{INT32_MAX}, std::uint64_t{1} << 61U, UINT64_MAX})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto bytes = whole;
      if (n == 5 && axis == 2) continue;  // the true size
      std::memcpy(&bytes[24 + 8 * axis], &n, sizeof n);
      put(path, bytes);
      CHECK(error_of(path).find("nodes") != std::string::npos);
    }
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 32 * 1024);  // KB
  std::filesystem::remove(path);
}
