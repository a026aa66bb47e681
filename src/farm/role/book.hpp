// The record of a farm's tasks and ranks on the root, and the one place where tasks are given to ranks.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "farm/role/action.hpp"
#include "farm/role/dealer.hpp"
#include "farm/role/failed_tasks.hpp"
#include "farm/role/losses.hpp"
#include "farm/role/results_spacing.hpp"
#include "farm/role/task_progress.hpp"

namespace skel::role {

/// The duties of farm_root work on it. A regular value; events append their actions to `out`.
struct farm_book {
  farm_book() = default;
  explicit farm_book(farm_root_config const& config);

  // --- tasks for ranks
  void serve(rank_id rank, farm_actions& out);
  void serve_all(farm_actions& out);
  /// Gives tasks that came back to ranks that do not ask.
  void push(farm_actions& out);
  /// Deals the tasks if all living ranks have said hello with their power.
  void deal(farm_actions& out);
  /// Lets a root that only serves compute if no other rank is left.
  void enlist_root(farm_actions& out);
  /// Gives each rank one suspect at a time, so that a further loss points to one task.
  void give_suspects(farm_actions& out);
  /// Gives failed tasks to ranks where they have not failed yet.
  void give_failed(farm_actions& out);
  /// Gives a task that no rank holds to a rank that runs it next and alone. See farm::grant_alone.
  void give_alone(rank_id rank, task_id task, bool watched, farm_actions& out);
  /// Gives a copy of tasks that run on another rank. `next`: before all others that the rank holds.
  void give_copy(rank_id rank, range_list which, bool next, farm_actions& out);
  /// No rank holds these tasks any more.
  void put_back(range_list const& which);
  /// The same, but some of them may be among those that no rank holds already.
  void put_back_missing(range_list const& which);

  // --- tasks on their way to the sink
  /// The result of these tasks has come. Returns those that had none.
  range_list record(task_range const& range);
  /// The task has failed too often, or ends every rank that runs it, as do `more` others: it is left out, or
  /// the run ends.
  void give_up(farm::leave_out task, std::uint64_t more, farm_actions& out);
  /// The task is to have no result.
  void leave_out(task_id task, farm_actions& out);
  void sunk(std::uint64_t count, task_id next);

  // --- the end
  /// Task numbers come from another process: the run ends if it has no such tasks.
  [[nodiscard]] bool exist(rank_id rank, range_list const& which, farm_actions& out);
  /// Restored results must belong to tasks of this source, or the run could never be complete.
  [[nodiscard]] bool restored_exist(farm_actions& out);
  /// The run ends so.
  void close(outcome how, farm_actions& out);
  /// The run ends: nothing more is given.
  void stop();
  [[nodiscard]] bool stopping() const { return stopped_; }

  /// True if no task will come into the pool any more.
  [[nodiscard]] bool no_more() const { return tasks.source_ended() && !losses.stock().under_way(); }
  /// Whether a task may be on two ranks.
  [[nodiscard]] bool any_twice() const { return again > 0 || copies > 0; }
  friend bool operator==(farm_book const&, farm_book const&) = default;
  auto fields() const {
    return std::tie(tasks, dealer, losses, failed, spacing, again, copies, not_started, paused);
  }

  task_progress tasks;
  farm_dealer dealer;
  farm_losses losses;
  failed_tasks failed;
  results_spacing spacing;
  std::uint64_t again = 0;        ///< number of tasks that were given again
  std::uint64_t copies = 0;       ///< number of copies of running tasks that other ranks were given
  std::uint64_t remembered = 0;   ///< number of results of an earlier attempt
  std::uint64_t not_started = 0;  ///< number of tasks left out because they could not end in time
  double now = 0;                 ///< seconds
  bool paused = false;            ///< no rank begins a task

 private:
  void give(farm_actions& out);

  rank_id root_ = 0;
  bool directs_ = false;
  bool collects_ = false;  // tasks may be left out
  bool recalled_ = false;
  bool stopped_ = false;
  assignments decided_;  // the dealer's decisions; empty between two events, kept for its memory
};

}  // namespace skel::role
