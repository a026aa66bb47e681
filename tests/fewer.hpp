// Random and exhaustive tests do less where each step costs ten to thirty times as much; release builds do
// all of it.
#pragma once

#include <cstdint>

namespace test {

#ifndef NDEBUG  // the builds with sanitizers, too
inline constexpr bool slow = true;
#else
inline constexpr bool slow = false;
#endif

constexpr std::uint64_t fewer_if_slow(std::uint64_t n) { return slow ? n / 8 : n; }

/// The step of a loop that tries everything, where each try costs as much.
constexpr std::uint64_t longer_if_slow(std::uint64_t step) { return slow ? step : 1; }

}  // namespace test
