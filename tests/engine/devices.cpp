// The accelerators that the environment shows, shared among the ranks and threads of a host.
#include "engine/devices.hpp"

#include <algorithm>
#include <set>

#include "catch.hpp"

using skel::detail::count_devices;
using skel::detail::device_of;

TEST_CASE("devices are counted up to the first hidden one") {
  CHECK(count_devices("") == 0);
  CHECK(count_devices("0") == 1);
  CHECK(count_devices("2, 3") == 2);
  CHECK(count_devices("GPU-8932f937,GPU-a1b2c3d4,MIG-1") == 3);
  CHECK(count_devices("0.0,0.1,1.0") == 3);  // ZE_AFFINITY_MASK
  CHECK(count_devices("-1") == 0);
  CHECK(count_devices("0,1,-1,2") == 2);
  CHECK(count_devices("0,,1") == 1);
}

TEST_CASE("ranks share the devices of a host evenly") {
  CHECK_FALSE(device_of(0, {0, 1}, 0));
  for (int devices = 1; devices <= 9; ++devices)
    for (int ranks = 1; ranks <= 9; ++ranks) {
      std::multiset<int> used;
      for (int r = 0; r < ranks; ++r) {
        std::set<int> own;
        for (unsigned t = 0; t < 9; ++t) own.insert(device_of(devices, {r, ranks}, t).value());
        used.insert(own.begin(), own.end());
      }
      for (int d = 0; d < devices; ++d) {
        auto const users = static_cast<int>(used.count(d));
        CHECK(users >= std::max(1, ranks / devices));
        CHECK(users <= std::max(1, (ranks + devices - 1) / devices));
      }
      CHECK(*used.rbegin() == devices - 1);
    }
}
