// The member's side of a farm: takes tasks from the root or from other ranks, and hands them to compute
// threads.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "farm/role/action.hpp"
#include "farm/role/config.hpp"
#include "farm/role/held_tasks.hpp"
#include "farm/role/reports.hpp"
#include "farm/role/ring.hpp"
#include "protocol/attendance.hpp"

namespace skel::role {

/// The one role for all schedules of the farm. A regular value; events append their actions to `out`.
class farm_member {
 public:
  farm_member() = default;
  explicit farm_member(farm_member_config const& config);

  void begin(farm_actions& out);
  /// A compute thread is free and takes at most `limit` tasks (about 100 microseconds of work, at least one).
  void idle(std::uint64_t limit, farm_actions& out);
  /// A compute thread has finished `range`, all or the front part of the range of an execute action.
  /// `next_limit` > 0: the thread is free for this many more; 0: it continues with the rest of its range.
  void finished(task_range const& range, std::uint64_t next_limit, farm_actions& out);
  /// Task `id` threw; the tasks of `dropped` (the rest of its range) will not run. The thread is free.
  void failed(task_id id, std::string text, task_range const& dropped, farm_actions& out);
  /// Task `id` threw and the root decides whether it runs again. The thread goes on with the rest of its
  /// range.
  void threw(task_id id, std::string text, farm_actions& out);
  /// A compute thread cannot run this task, the next one of its range. It goes on with the others.
  void refused(farm::refused what, farm_actions& out);
  /// The same, but the task may begin when there is more room.
  void put_aside(task_id id, farm_actions& out);
  /// There is more room.
  void room() { held_.room(); }
  /// A compute thread ran tasks that cost as much as `tasks` average ones in `seconds`.
  void measured(double tasks, double seconds) { reports_.measured(tasks, seconds); }
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  void tick(farm_actions& out);
  /// This rank begins nothing more, since it is to leave the job or the run pauses; or it goes on. What it
  /// drops, the root finds by stock-taking.
  void retire(bool does, farm_actions& out);
  /// Whether the root needs nothing more of this rank.
  [[nodiscard]] bool vacant() const {
    return works() && reports_.retires() && held_.dry() && held_.done() == 0;
  }
  /// This rank wants the run to end early.
  void please_stop(farm_actions& out) { attendance_.please_stop(out); }
  /// Another rank was first with these tasks: drops those that wait. Running ones do no harm.
  void drop(task_range const& range) { held_.drop(range); }

  [[nodiscard]] held_tasks const& held() const { return held_; }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  /// Whether the root owes an answer.
  [[nodiscard]] bool waiting() const { return reports_.asked(); }
  friend bool operator==(farm_member const&, farm_member const&) = default;
  auto fields() const { return std::tie(attendance_, held_, ring_, reports_, dismissed_, heard_); }

 private:
  // One for each message of the root; farm_ring and attendance answer the others.
  void answer(rank_id from, farm::grant const& m, farm_actions& out);
  void answer(rank_id from, farm::grant_alone const& m, farm_actions& out);
  void answer(rank_id from, farm::nothing const& m, farm_actions& out);
  void answer(rank_id from, farm::dismissed const& m, farm_actions& out);
  void answer(rank_id from, farm::pause const& m, farm_actions& out);
  void answer(rank_id from, farm::spacing const& m, farm_actions& out);
  void answer(rank_id from, farm::take_stock const& m, farm_actions& out);
  void answer(rank_id from, call_message const& m, farm_actions& out);
  template <class Message>
  void answer(rank_id from, Message const& m, farm_actions& out);

  /// Whether this rank sends results, ...
  [[nodiscard]] bool works() const { return attendance_.active() && !dismissed_; }
  /// ... and takes tasks.
  [[nodiscard]] bool takes() const { return works() && !reports_.retires(); }
  bool gives_back(task_id id, farm_actions& out);
  void hand_out(std::uint64_t limit, farm_actions& out);
  void go_on(farm_actions& out);
  /// After a task has ended.
  void tell_vacant(farm_actions& out) const {
    if (vacant()) reports_.tell_retired(true, out);
  }
  void maybe_steal(farm_actions& out);
  void maybe_flush(farm_actions& out) { reports_.maybe_flush(!ring_ || ring_->resting(), held_, out); }
  void maybe_stopped(farm_actions& out);

  rank_id root_ = 0;
  attendance attendance_;
  held_tasks held_;
  std::optional<farm_ring> ring_;
  farm_reports reports_;
  bool copies_ = false;     // tasks may run on several ranks
  bool dismissed_ = false;  // the root does not believe its results: it computes nothing more
  bool heard_ = false;      // has heard from the root in this run
};

}  // namespace skel::role
