// Random and exhaustive tests do less where each step costs ten to thirty times as much; release builds do
// all of it.
#pragma once

#include <cstdint>

namespace test {

constexpr std::uint64_t fewer_if_slow(std::uint64_t n) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
  return n / 8;
#else
  return n;
#endif
}

/// The step of a loop that tries everything, where each try costs as much.
constexpr std::uint64_t longer_if_slow(std::uint64_t step) { return fewer_if_slow(8) == 8 ? 1 : step; }

}  // namespace test
