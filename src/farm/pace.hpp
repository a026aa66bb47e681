// How many tasks a compute thread of a farm takes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace skel::detail {

/// Keeps a quantum's results in the cache until they are sent.
inline constexpr std::size_t quantum_bytes = std::size_t{128} * 1024;

/// Sizes a quantum to about 100 microseconds by the latest slices. It grows in steps, so that one cheap
/// task does not decide.
class task_pace {
 public:
  /// A slice of `tasks` took `seconds`. The quantum's results hold `bytes` so far, about `result_bytes`
  /// each.
  void measured(std::uint64_t tasks, double seconds, std::size_t bytes, std::size_t result_bytes);
  /// Number of tasks of the next quantum, and of each of its slices.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t slice() const;
  /// Seconds per task; 0: unknown.
  [[nodiscard]] double cost() const { return cost_; }
  /// Seconds measured since the last call.
  [[nodiscard]] double take_busy() { return std::exchange(busy_, 0); }

 private:
  double cost_ = 0;
  double busy_ = 0;
  std::uint64_t limit_ = 1;
};

}  // namespace skel::detail
