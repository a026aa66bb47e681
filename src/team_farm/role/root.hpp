// The root's side of a farm of teams: gives each team one task at a time, and records results.
#pragma once

#include <span>
#include <utility>

#include "farm/role/task_progress.hpp"
#include "faults.hpp"
#include "jobs.hpp"
#include "queue.hpp"
#include "ranks.hpp"
#include "skel/on_error.hpp"

namespace skel::role {

struct team_root_config {
  rank_id root = 0;
  rank_id ranks = 0;            ///< of the run, the root included
  rank_id first_computing = 0;  ///< this rank and those after it compute
  bool ordered = false;      ///< the sink takes tasks in order: the window counts from the first missing one
  std::uint64_t window = 0;  ///< most tasks begun whose results the sink has not received; 0: no limit
  unsigned most_losses = 0;  ///< a task that loses ranks this often ends the run; 0: never
  error_policy on_error{};
  range_list restored{};  ///< tasks with results from an earlier run; they are not given
};

/// A task whose team loses a rank runs again; the survivors join other teams. Events append
/// their actions to `out`.
class team_root {
 public:
  team_root() = default;
  explicit team_root(team_root_config config);

  /// The source has produced tasks [0, available), and `sizes` are the ranks wanted by the new ones.
  /// `ended`: these are all. `costs`: of all tasks; empty: unknown.
  void supplied(std::uint64_t available, bool ended, std::span<int const> sizes,
                std::span<double const> costs, team_actions& out);
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next, team_actions& out);
  /// The window holds this many tasks, but at least one per rank, and at most what the configuration says.
  void resize_window(std::uint64_t tasks);
  /// The result of this task, which has none yet, is not wanted any more.
  void cancel(task_id task, team_actions& out);
  void on(rank_id from, team_message const& m, team_actions& out);
  void lost(rank_id rank, team_actions& out);
  /// The rank was killed from outside: its loss counts half. Comes before lost().
  void from_outside(rank_id rank) { ranks_.from_outside(rank); }
  void tick(team_actions& out);
  /// A rank wants the run to end early: it does once the tasks that run have ended.
  void please_stop(team_actions& out);
  /// While `on`, no task begins, since the root is to leave.
  void pause(bool on, team_actions& out);
  /// The call ends: nothing new begins.
  void stop() { stopped_ = true; }

  /// Whether this rank is the root of the team that runs the job, so that its result is to be kept until
  /// accept or drop.
  [[nodiscard]] bool awaits_result(rank_id from, job_id id);
  [[nodiscard]] task_progress const& tasks() const { return tasks_; }
  [[nodiscard]] std::uint64_t pooled() const { return queue_.tasks(); }
  /// Whether free ranks wait for a task: 1 at a time, since its team may take all of them.
  [[nodiscard]] std::uint64_t wanted() const { return ranks_.free() > 0 ? 1 : 0; }
  [[nodiscard]] std::uint64_t handed_out_again() const { return handed_out_again_; }
  /// Whether no task begins any more.
  [[nodiscard]] bool paused() const { return ends_ || paused_; }
  [[nodiscard]] std::size_t running() const { return jobs_.size(); }
  [[nodiscard]] std::size_t free_ranks() const { return ranks_.free(); }

 private:
  void answer(rank_id rank, call_message const& m, team_actions& out);
  void answer(rank_id rank, team::ended const& m, team_actions& out);
  void answer(rank_id rank, team::overran const& m, team_actions& out);
  void answer(rank_id rank, team::retires const& m, team_actions& out);
  void form(team_actions& out);
  [[nodiscard]] bool has_room(task_id id) const;
  void settle(team_job j, team_actions& out);
  void heard(rank_id rank, team_actions& out);
  void give_up(farm::leave_out task, team_actions& out);
  void maybe_complete(team_actions& out);
  void close(outcome how, team_actions& out);

  team_root_config config_;
  std::uint64_t window_ = 0;  // config_.window, or what resize_window() made of it
  task_progress tasks_;
  team_queue queue_;
  team_ranks ranks_;
  team_jobs jobs_;
  task_faults faults_;
  std::uint64_t handed_out_again_ = 0;
  bool stopped_ = false;
  bool ends_ = false;  // early
  bool paused_ = false;
};

}  // namespace skel::role
