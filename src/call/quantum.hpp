// How much a compute thread takes at a time, whatever the skeleton.
#pragma once

#include <algorithm>
#include <cstdint>

namespace skel::detail {

/// A quantum is what a thread works on between two looks at what others want: about this much, so that roles,
/// locks and messages cost about one percent.
inline constexpr double quantum_seconds = 100e-6;
/// Between slices of a quantum it looks whether messages want to be moved.
inline constexpr double slice_seconds = 30e-6;
inline constexpr std::uint64_t most_tasks_of_quantum = 1 << 16;

/// How many tasks of `cost` seconds make up `seconds`: one at least, at most `most`, and one while the cost
/// is not known.
[[nodiscard]] inline std::uint64_t tasks_in(double seconds, double cost, std::uint64_t most) {
  if (cost <= 0) return 1;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(seconds / cost), 1, most);
}

}  // namespace skel::detail
