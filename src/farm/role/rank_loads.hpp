// Each rank's speed and waiting tasks, as far as the root of a farm knows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "farm/role/message.hpp"
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

/// Speeds are in average tasks per second. A regular value.
class rank_loads {
 public:
  rank_loads() = default;
  explicit rank_loads(rank_id ranks) : ranks_(ranks), speeds_(ranks) {}

  // --- events
  /// `power`: of a thread, relative to other ranks; 0: unknown.
  void joins(rank_id rank, std::uint64_t threads, double power);
  void granted(rank_id rank, std::uint64_t tasks);
  /// The rank's own report replaces the assumptions.
  void told(rank_id rank, farm::load const& here);
  void lost(rank_id rank);
  /// A thief found no waiting tasks there.
  void found_empty(rank_id rank);
  /// The thief will take these tasks from the victim.
  void moves(rank_id victim, rank_id thief, std::uint64_t tasks);
  /// The rank asks for tasks of other ranks.
  void seeks(rank_id rank) { ranks_[rank].seeks = true; }
  /// There was nothing for a rank that seeks: it counts as idle.
  void waits_in_vain(rank_id rank);

  // --- decisions
  [[nodiscard]] std::uint64_t threads(rank_id rank) const { return ranks_[rank].threads; }
  [[nodiscard]] bool any_waiting() const { return all_waiting_ > 0; }
  /// The idle ranks, the one that has waited longest first.
  [[nodiscard]] std::vector<rank_id> const& idle() const { return idle_; }
  [[nodiscard]] std::uint64_t waiting(rank_id rank) const { return ranks_[rank].waiting; }
  [[nodiscard]] rank_speeds& speeds() { return speeds_; }
  [[nodiscard]] rank_speeds const& speeds() const { return speeds_; }
  /// The expected speed of the rank's threads together.
  [[nodiscard]] double speed(rank_id rank) const;
  /// Seconds in which all `computing` ranks do `tasks` more tasks and those that wait; 0: no speed is known.
  [[nodiscard]] double remaining(std::uint64_t tasks, std::size_t computing) const;
  /// The rank's part of the speed of all `computing` ranks; 0: unknown.
  [[nodiscard]] double share(rank_id rank, std::size_t computing) const;
  struct theft {
    rank_id victim = 0;
    std::uint64_t tasks = 0;
  };
  /// Returns the rank whose waiting tasks take longest, and how many of them the thief should take so that
  /// both finish at the same time. Empty: no theft pays.
  [[nodiscard]] std::optional<theft> theft_for(rank_id thief);
  friend bool operator==(rank_loads const&, rank_loads const&) = default;
  auto fields() const { return std::tie(ranks_, idle_, speeds_); }

 private:
  struct load {
    std::uint64_t threads = 1;
    std::uint64_t waiting = 0;
    double speed = 0;  // when the rank last reported; 0: unknown
    bool seeks = false;
    bool idle = false;
  };
  // Ranks with waiting tasks, those with the longest time first: minus that time, and the rank.
  using victims = std::set<std::pair<double, rank_id>>;
  [[nodiscard]] double all_speeds(std::size_t computing) const;
  [[nodiscard]] std::pair<double, rank_id> key_of(rank_id rank) const;
  void enter(rank_id rank);
  void leave(rank_id rank);
  [[nodiscard]] std::optional<rank_id> longest_but(rank_id thief);
  void set_waiting(rank_id rank, std::uint64_t tasks);
  void set_speed(rank_id rank, double speed);
  void set_busy(rank_id rank);

  by_rank<load> ranks_;
  std::vector<rank_id> idle_;
  std::uint64_t all_waiting_ = 0;
  double known_speed_ = 0;  // sum of the known speeds
  std::size_t known_ = 0;
  rank_speeds speeds_;
  bool sorted_ = false;  // since the first theft
  victims known_victims_;
  victims unknown_victims_;  // of unknown speed: by number
};
}  // namespace skel::role
