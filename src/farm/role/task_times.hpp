// How long the tasks of a farm take.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>

namespace skel::role {

/// A task that runs for longer than expected is then expected to take this many times as long in all. (3: the
/// mean of those of a Pareto distribution of shape 1.5.)
inline constexpr double overdue = 3;

/// The distribution of the times of finished tasks, in seconds on a thread of power 1. A regular value.
class task_times {
 public:
  task_times() = default;
  explicit task_times(int ranks) : remembered_(std::max(4096.0, 32.0 * ranks)) {}
  void add(double seconds, double tasks);
  /// All tasks that run now have run for this time together.
  void running(double seconds) { running_ = seconds; }
  [[nodiscard]] bool empty() const { return tasks_ == 0; }
  /// Counts running tasks, since short ones finish first. A second if none has run.
  [[nodiscard]] double mean() const {
    double const seconds = seconds_ + running_;
    return seconds > 0 ? seconds / std::max(1.0, tasks_) : 1;
  }
  /// Variance / mean^2. That of exponential times, 1, until some tasks have finished.
  [[nodiscard]] double variation() const;
  /// The expected time beyond `limit`, at least `done`, of a task that has run for `done` seconds and has not
  /// finished; 0 if it takes less.
  [[nodiscard]] double excess(double done, double limit) const;
  friend bool operator==(task_times const&, task_times const&) = default;
  auto fields() const { return std::tie(tasks_, seconds_, squares_, running_); }

 private:
  static constexpr int bins = 64;  // each of twice the times of the one before
  struct bin {
    double tasks = 0, seconds = 0;
    friend bool operator==(bin const&, bin const&) = default;
  };
  [[nodiscard]] static std::size_t bin_of(double seconds);

  std::array<bin, bins> bins_{};
  double remembered_ = 0;  // with more tasks than this, older ones count for less
  double tasks_ = 0, seconds_ = 0, squares_ = 0;
  double running_ = 0;
};

}  // namespace skel::role
