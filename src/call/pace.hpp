// How many tasks a compute thread takes, or a rank requests, at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "quantum.hpp"

namespace skel::detail {

/// How a pace follows the times of tasks. The default is that of a thread's quantum.
struct pace_rule {
  double seconds = quantum_seconds;  ///< of work at a time
  double weight = 0.3;               ///< of the latest measurement; earlier ones have the rest
  std::uint64_t growth = 4;          ///< of the number of tasks, at most: one cheap task does not decide
};

/// Sizes an amount of work by the seconds that the latest tasks took.
class task_pace {
 public:
  task_pace() = default;
  explicit task_pace(pace_rule const& rule) : rule_(rule) {}

  /// `tasks` took `seconds`. The limit becomes at most `most`.
  void measured(std::uint64_t tasks, double seconds, std::uint64_t most = most_tasks_of_quantum) {
    busy_ += seconds;
    if (tasks == 0) return;
    double const cost = std::max(seconds / static_cast<double>(tasks), 1e-9);
    cost_ = cost_ == 0 ? cost : (1 - rule_.weight) * cost_ + rule_.weight * cost;
    most = std::clamp<std::uint64_t>(most, 1, most_tasks_of_quantum);
    limit_ = tasks_in(rule_.seconds, cost_, std::min(most, limit_ * rule_.growth));
  }
  /// Number of tasks to take, and of those between two checks for messages.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t slice() const { return tasks_in(slice_seconds, cost_, limit_); }
  /// Seconds per task; 0: unknown.
  [[nodiscard]] double cost() const { return cost_; }
  /// Seconds measured since the last call.
  [[nodiscard]] double take_busy() { return std::exchange(busy_, 0); }

 private:
  pace_rule rule_;
  double cost_ = 0;
  double busy_ = 0;
  std::uint64_t limit_ = 1;
};

}  // namespace skel::detail
