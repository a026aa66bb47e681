// How fast each rank of a farm is, as far as the root knows, and how long tasks take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "protocol/by_rank.hpp"

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

/// Speeds of threads, in average tasks per second. They are estimated from a rank's power, or that of an
/// average rank, and from its tasks: the fewer there are and the more their costs vary, the less they count,
/// since they may have been short. A regular value, part of rank_loads.
class rank_speeds {
 public:
  rank_speeds() = default;
  explicit rank_speeds(rank_id ranks) : ranks_(ranks), times_(ranks) {}

  /// `power`: of a thread, relative to other ranks; 0: unknown.
  void joins(rank_id rank, double power);
  /// A thread of the rank ran these tasks, which cost as much as `cost` average ones.
  void took(rank_id rank, double cost, double seconds);
  /// Those that run now have run for these seconds, each times the power() of its rank, together.
  void running(double seconds) { times_.running(seconds); }
  /// The rank says how many seconds a task takes on average.
  void told(rank_id rank, double cost);
  void finished(rank_id rank, std::uint64_t tasks) { ranks_[rank].finished += tasks; }
  /// The rank was given a copy of a task that costs as much as `cost` average ones.
  void copies(rank_id rank, double cost) { ranks_[rank].longer += cost - 1; }
  void lost(rank_id rank);

  /// The power of a thread of the rank; 1 if no powers are known.
  [[nodiscard]] double power(rank_id rank) const;
  /// Until a task has finished, an average one takes a second on power 1.
  [[nodiscard]] double of_thread(rank_id rank) const { return pace(rank, 0) / times_.mean(); }
  /// The same for a thread that has run `cost` average tasks for `seconds`: less if they are late.
  [[nodiscard]] double of_thread(rank_id rank, double cost, double seconds) const;
  /// The expected cost beyond `limit`, in average tasks, of a task of which `done` has been run, as
  /// task_times::excess().
  [[nodiscard]] double excess(double done, double limit) const;
  [[nodiscard]] double variation() const { return times_.variation(); }
  friend bool operator==(rank_speeds const&, rank_speeds const&) = default;
  auto fields() const { return std::tie(ranks_, times_); }

 private:
  struct state {
    double power = 0;  // 0: unknown
    double cost = 0;   // seconds per task; 0: unknown
    std::uint64_t finished = 0;
    double longer = 0;  // cost of copies beyond that of average tasks
  };
  [[nodiscard]] double pace(rank_id rank, double late) const;

  by_rank<state> ranks_;
  double powers_ = 0;  // sum of the known ones
  std::size_t with_power_ = 0;
  task_times times_;
};

}  // namespace skel::role
