// The tasks that one rank of a farm holds: waiting, running, and finished ones whose results are unsent.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <tuple>

#include "skel/detail/task_range.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// A regular value, part of farm_member.
class held_tasks {
 public:
  // --- waiting
  void add(std::span<task_range const> ranges);
  /// The same; with `look`, only those that this rank does not hold.
  void add(std::span<task_range const> ranges, bool look) { look ? add(not_held(ranges)) : add(ranges); }
  /// A task that must run alone, before all others, and stay on this rank.
  void add_alone(task_range const& task) { alone_.push_back(task); }
  /// Removes up to `n` waiting tasks, but none granted alone, for another rank.
  [[nodiscard]] range_list give_away(std::uint64_t n, schedule::steal_end from);
  /// Another rank was first with these tasks: drops those that wait. Running ones do no harm.
  void drop(task_range const& range);
  /// Drops all that wait.
  void drop_waiting();
  /// From now on nothing is started or sent.
  void clear();

  // --- running
  /// Begins the next task granted alone, or up to `limit` others.
  [[nodiscard]] std::optional<task_range> start(std::uint64_t limit);
  /// These tasks, all or some of those that start() returned, have stopped running.
  void end_run(task_range const& range);
  /// These tasks have finished. Returns true if they were granted alone: the root waits for the results.
  bool finish(task_range const& range);
  /// This running task has failed.
  void fail(task_id id);
  /// Whether this range runs, and was granted alone.
  [[nodiscard]] bool runs_alone(task_range const& running) const;

  // --- tasks without room
  /// This running task has not begun: it waits for room. Others begin meanwhile, up to a limit.
  void put_aside(task_id id);
  /// There may be room for tasks that wait for it: they begin before those behind them.
  void room() { full_ = false; }

  // --- finished
  [[nodiscard]] range_list take_done();

  /// Returns the tasks of `ranges` that this rank does not hold. A rank that was declared dead and came back
  /// may be granted tasks that it already holds.
  [[nodiscard]] range_list not_held(std::span<task_range const> ranges) const;
  [[nodiscard]] range_list all() const;
  [[nodiscard]] bool has_work() const { return !queue_.empty() || !alone_.empty() || !aside_.empty(); }
  /// True if nothing waits and nothing runs.
  [[nodiscard]] bool dry() const { return !has_work() && running_.empty(); }
  [[nodiscard]] std::uint64_t queued() const { return queued_; }
  [[nodiscard]] range_list const& running() const { return running_; }
  [[nodiscard]] std::uint64_t done() const { return done_count_; }
  friend bool operator==(held_tasks const&, held_tasks const&) = default;
  auto fields() const { return std::tie(queue_, alone_, aside_, running_, running_alone_, done_, full_); }

 private:
  std::deque<task_range> queue_;
  std::uint64_t queued_ = 0;  // tasks in queue_ and aside_
  range_list alone_;
  std::deque<task_range> aside_;  // tasks that wait for room, in ascending order
  bool full_ = false;             // for them, and for those granted alone
  range_list running_;
  range_list running_alone_;  // those of running_ that were granted alone
  range_list done_;
  std::uint64_t done_count_ = 0;  // tasks in done_
};

}  // namespace skel::role
