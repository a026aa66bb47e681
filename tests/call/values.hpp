// Values and bytes for tests of what calls transfer.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "skel/transfer.hpp"

namespace test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<std::byte> packed(T const& value) {
  std::vector<std::byte> bytes{std::byte{42}};  // what was there before stays
  skel::pack(value, bytes);
  CHECK(bytes[0] == std::byte{42});
  bytes.erase(bytes.begin());
  return bytes;
}

}  // namespace test
