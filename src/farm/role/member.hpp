// The member's side of a farm: asks for tasks, hands them to compute threads, sends results.
#pragma once

#include <optional>

#include "farm/role/action.hpp"
#include "farm/role/held_tasks.hpp"
#include "farm/role/ring.hpp"
#include "role/attendance.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;  ///< hash of skeleton, schedule, task count and types: equal on every rank
  int threads = 1;
  double power = 0;      ///< measured relative power; 0: unknown
  bool asks = true;      ///< requests more tasks from the root
  bool computes = true;  ///< false: takes part without running tasks
  results_policy results;
  /// Ticks after which concentrated results are sent before the end, so that the root can record them; 0:
  /// never.
  unsigned send_after_ticks = 0;
  double interval = 0;                     ///< seconds of work for which streamed results wait for others
  std::optional<std::uint64_t> threshold;  ///< in tasks; empty: as many as cover a round trip
  bool early = true;                       ///< may request more while its last tasks run
  range_list share;                        ///< the tasks that it starts with
  std::uint64_t costly = 0;                ///< this many tasks, the first ones, are not to be waited for
  farm_ring_config ring{};
  friend bool operator==(farm_member_config const&, farm_member_config const&) = default;
};

/// The one role for all schedules of the farm. A regular value; events append their actions to `out`.
class farm_member {
 public:
  farm_member() = default;
  explicit farm_member(farm_member_config config);

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
  /// A compute thread ran tasks that cost as much as `tasks` average ones in `seconds`.
  void measured(double tasks, double seconds);
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  void tick(farm_actions& out);
  /// This rank wants the run to end early.
  void please_stop(farm_actions& out);
  /// Another rank was first with these tasks: drops those that wait. Running ones do no harm.
  void drop(task_range const& range) { held_.drop(range); }

  [[nodiscard]] bool has_work() const { return held_.has_work(); }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  [[nodiscard]] std::uint64_t queued() const { return held_.queued(); }
  [[nodiscard]] std::uint64_t running() const { return count_tasks(held_.running()); }
  [[nodiscard]] std::uint64_t unsent() const { return held_.done(); }
  [[nodiscard]] bool waiting() const { return asked_; }
  friend bool operator==(farm_member const&, farm_member const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  void say_hello(farm_actions& out) const;
  [[nodiscard]] bool due() const;
  void hand_out(std::uint64_t limit, farm_actions& out);
  void go_on(farm_actions& out);
  void drained(farm_actions& out);
  void enqueue(range_list const& ranges, bool look);
  void on_grant(farm::grant const& m, farm_actions& out);
  void on_grant(farm::grant_alone const& m);
  void on_nothing(farm_actions& out);
  void on_ring(rank_id from, farm_message const& m, farm_actions& out);
  void tell_stock(farm::take_stock const& m, farm_actions& out);
  [[nodiscard]] std::uint64_t wanted() const;
  [[nodiscard]] bool may_ask() const;
  [[nodiscard]] bool all_costly() const;
  [[nodiscard]] bool directed() const { return ring_ && ring_->directed(); }
  [[nodiscard]] std::optional<farm::load> here() const;
  void ask(farm_actions& out);
  void maybe_ask(farm_actions& out);
  void maybe_steal(farm_actions& out);
  void tell_begun(farm_actions& out);
  void maybe_flush(farm_actions& out);
  void flush(farm_actions& out);
  void maybe_stopped(farm_actions& out);
  void say(farm_message m, farm_actions& out) const { out.push_back(farm::send{config_.root, std::move(m)}); }

  farm_member_config config_;
  attendance attendance_;
  held_tasks held_;
  std::optional<farm_ring> ring_;
  range_list untold_;           // running tasks that the root does not know of
  bool tells_always_ = false;   // a rank was lost: the root must know of every task begun
  bool stole_ = false;          // the root does not know what this rank begins next
  std::uint64_t finished_ = 0;  // tasks finished since begin()
  std::uint64_t failures_ = 0;  // tasks that threw since begin()
  std::uint64_t reach_ = 1;     // tasks that cover a round trip: the latest `limit` of a compute thread
  double cost_ = 0;             // seconds per task of one thread; 0: unknown
  double weight_ = 0;           // number of tasks that cost_ stands for
  std::optional<rank_id> refused_by_;  // the victim named last, if it had no tasks
  bool asked_ = false;
  bool closed_ = false;        // the root has no more tasks
  bool dismissed_ = false;     // the root does not believe its results: it computes nothing more
  bool heard_ = false;         // has heard from the root in this run
  unsigned ticks_ = 0;         // since the last message to or from the root, except for stock-taking
  unsigned unsent_ticks_ = 0;  // since results were last sent
  double unsent_seconds_ = 0;  // of work since the latest results message
};

}  // namespace skel::role
