// How fast each rank of a farm is, as far as the root knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "farm/role/task_times.hpp"
#include "protocol/by_rank.hpp"

namespace skel::role {

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
