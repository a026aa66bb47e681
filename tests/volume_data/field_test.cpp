// Computed fields, as slices and as a whole.
#include "field.hpp"

#include <cmath>

#include "catch.hpp"
#include "files.hpp"
#include "grid.hpp"

using namespace volume_data;

TEST_CASE("fields have their values at their points") {
  auto const linear = read_grid(*open_field("linear:5x4x3"));
  auto const& c = linear.header.coordinates;
  CHECK(c[0] == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
  for (std::size_t z = 0; z < 3; ++z)
    CHECK(linear.at(4, 3, z) == Approx((1 + 2 + 4 * c[2][z]) / 7).epsilon(1e-6));
  auto const sphere = read_grid(*open_field("sphere:3x3x3"));
  CHECK(sphere.at(1, 1, 1) == 0);
  CHECK(sphere.at(0, 0, 2) == Approx(std::sqrt(3.0)));
  auto const lobb = read_grid(*open_field("marschner-lobb"));
  CHECK(lobb.header.size == std::array<std::size_t, 3>{41, 41, 41});
  CHECK(lobb.at(20, 20, 20) == Approx((1 + 0.25 * 2) / 2.5));  // r = 0: the ripple is 1
  CHECK(read_grid(*open_field("homogeneous:2x2x2")).at(1, 0, 1) == 1);
}

TEST_CASE("the storm has the properties of a storm") {
  auto const g = read_grid(*open_field("wind"));
  CHECK(g.header.size == std::array<std::size_t, 3>{121, 97, 18});
  auto const values = g.floats();
  CHECK(*std::ranges::max_element(values) > 50);
  CHECK(*std::ranges::max_element(values) < 90);
  CHECK(*std::ranges::min_element(values) >= 0);
  auto const& z = g.header.coordinates[2];
  CHECK(z[1] - z[0] < (z[17] - z[16]) / 3);  // levels are denser near the ground
}

TEST_CASE("a field slice by slice is the field") {
  auto const whole = read_grid(*open_field("turbulence:7x6x5")).floats();
  auto const volume = open_field("turbulence:7x6x5");
  std::vector<float> slice(42);
  for (std::size_t z = 0; z < 5; ++z) {
    volume->read(slice);
    CHECK(std::equal(slice.begin(), slice.end(), whole.begin() + static_cast<std::ptrdiff_t>(42 * z)));
  }
}

TEST_CASE("unknown fields") {
  auto const error_of = [](char const* name) {
    return test::message_of([&] { static_cast<void>(open_field(name)); });
  };
  CHECK(test::contains(error_of("storm"), "unknown field \"storm\"; known: wind, homogeneous, linear"));
  CHECK(test::contains(error_of("wind:3x3"), "expected NAME:AxBxC"));
  CHECK(test::contains(error_of("wind:1x3x3"), "each 2 to 65536"));
}
