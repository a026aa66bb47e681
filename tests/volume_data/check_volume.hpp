// Checks that a reader returns the volume of files.hpp.
#pragma once

#include "catch.hpp"
#include "files.hpp"

namespace test {

inline void check_values(volume_data::grid const& g) {
  REQUIRE(g.header.size == std::array<std::size_t, 3>{nx, ny, nz});
  bool same = true;
  for (std::size_t z = 0, i = 0; z < nz; ++z)
    for (std::size_t y = 0; y < ny; ++y)
      for (std::size_t x = 0; x < nx; ++x, ++i) same = same && g.at(x, y, z) == value(i);
  CHECK(same);
}

inline void check_even(volume_data::grid const& g) {
  check_values(g);
  CHECK(g.header.coordinates[0] == std::vector<double>{1, 1.5, 2, 2.5, 3});
  CHECK(g.header.coordinates[1] == std::vector<double>{2, 3, 4, 5});
  CHECK(g.header.coordinates[2] == std::vector<double>{3, 5, 7});
}

inline void check_uneven(volume_data::grid const& g) {
  check_values(g);
  CHECK(g.header.coordinates[0] == std::vector<double>{0, 1, 3, 4, 8});
  CHECK(g.header.coordinates[1] == std::vector<double>{-1, 0, 0.5, 2});
  CHECK(g.header.coordinates[2] == std::vector<double>{0, 0.25, 4});
}

}  // namespace test
