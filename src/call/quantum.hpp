// The amount of work that a compute thread takes at a time, in all skeletons.
#pragma once

#include <algorithm>
#include <cstdint>

namespace skel::detail {

/// A quantum is the work between two checks for requests of others. With this duration, roles,
/// locks and messages cost about one percent.
inline constexpr double quantum_seconds = 100e-6;
/// Between slices of a quantum, a thread checks whether messages are pending.
inline constexpr double slice_seconds = 30e-6;
inline constexpr std::uint64_t most_tasks_of_quantum = 1 << 16;

/// The number of tasks of `cost` seconds that make up `seconds`: at least 1, at most `most`, and 1
/// while the cost is unknown.
[[nodiscard]] inline std::uint64_t tasks_in(double seconds, double cost, std::uint64_t most) {
  if (cost <= 0) return 1;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(seconds / cost), 1, most);
}

}  // namespace skel::detail
