// The root's side of a farm of teams: gives each team one task at a time, and records results.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "farm/role/task_progress.hpp"
#include "faults.hpp"
#include "jobs.hpp"
#include "ranks.hpp"
#include "skel/detail/task_range.hpp"
#include "skel/on_error.hpp"

namespace skel::role {

/// List scheduling: the largest teams first, among them the most costly tasks, smaller ones where these do
/// not fit.
class team_queue {
 public:
  struct entry {
    task_id task = 0;
    std::uint64_t wanted = 1;  ///< ranks
    std::uint64_t size = 1;    ///< the ranks that it gets: not more than can compute
  };

  /// The costs of all tasks; empty: unknown. Comes before add() of the same tasks, sort() after it.
  void set_costs(std::span<double const> costs) { costs_.assign(costs.begin(), costs.end()); }
  void add(task_id task, std::uint64_t wanted);
  void sort();
  /// A task that was taken must run again.
  void put_back(task_id task, std::uint64_t wanted);
  /// The task is not to run. Returns false if it does not wait here.
  bool remove(task_id task);
  /// Takes the task that begins next, if there is one that `has_room` lets begin and that fits on the free
  /// ones of the `able` ranks that compute. While the largest task waits for ranks, smaller ones may pass it,
  /// but not for ever.
  template <class Room>
  [[nodiscard]] std::optional<entry> take(std::uint64_t free, std::uint64_t able, Room const& has_room) {
    bool largest = true;
    for (auto at = waiting_.begin(); at != waiting_.end() && free > 0; ++at) {
      if (!has_room(at->second.front().first)) continue;
      auto const size = std::clamp<std::uint64_t>(at->first, 1, std::max<std::uint64_t>(able, 1));
      if (size <= free) {
        passed_ = largest ? 0 : passed_ + 1;
        return take(at, size);
      }
      if (std::exchange(largest, false) && passed_ >= able) break;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }

 private:
  using by_size = std::map<std::uint64_t, std::deque<task_range>, std::greater<>>;
  [[nodiscard]] entry take(by_size::iterator at, std::uint64_t size);
  [[nodiscard]] bool before(task_id a, task_id b) const;

  by_size waiting_;
  std::uint64_t tasks_ = 0;   // in waiting_
  std::uint64_t passed_ = 0;  // tasks that began while the largest one waited for ranks
  std::vector<double> costs_;
};

struct team_root_config {
  rank_id root = 0;
  rank_id ranks = 0;                   ///< of the run, the root included
  rank_id first_computing = 0;         ///< this rank and those after it compute
  std::vector<std::uint64_t> hosts{};  ///< of the ranks, if a team must not span several; or empty
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
