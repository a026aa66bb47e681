// The worker's side of a farm: asks for tasks, hands them to compute threads, sends results.
#pragma once

#include <optional>

#include "farm/role/action.hpp"
#include "farm/role/held_tasks.hpp"
#include "farm/role/ring.hpp"
#include "role/attendance.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_worker_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;  ///< of skeleton, schedule, task count and types: equal on every rank
  int threads = 1;
  double power = 0;      ///< measured relative power; 0: not measured
  bool asks = true;      ///< gets more from the root
  bool computes = true;  ///< false: a rank that takes part without work
  results_policy results;
  /// Concentrated results leave after so many ticks all the same, so that the root can record them; 0: at the
  /// end only.
  unsigned send_after_ticks = 0;
  std::optional<std::uint64_t> threshold;  ///< empty: as many tasks as cover a round trip
  bool early = true;                       ///< may ask while its last tasks run
  range_list share;                        ///< what it starts with
  farm_ring_config ring{};
  friend bool operator==(farm_worker_config const&, farm_worker_config const&) = default;
};

/// Every schedule of the farm uses this one role. A regular value; events append their actions to `out`.
class farm_worker {
 public:
  farm_worker() = default;
  explicit farm_worker(farm_worker_config config);

  void begin(farm_actions& out);
  /// A compute thread is free and would take at most `limit` tasks (about 100 microseconds of work, one at
  /// least).
  void idle(std::uint64_t limit, farm_actions& out);
  /// A compute thread has finished `range`, all of what execute gave it or its front part. `next_limit` > 0:
  /// the thread is free for so many more; 0: it goes on with the rest of its range.
  void finished(task_range const& range, std::uint64_t next_limit, farm_actions& out);
  /// Task `id` threw; the tasks of `dropped` (the rest of its range) will not run. The thread is free.
  void failed(task_id id, std::string text, task_range const& dropped, farm_actions& out);
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  void tick(farm_actions& out);
  /// This rank wants the run to end early.
  void please_stop(farm_actions& out);
  /// Another rank was first with these tasks: those that wait are not run. (Those that run do no harm.)
  void drop(task_range const& range) { held_.drop(range); }

  [[nodiscard]] bool has_work() const { return held_.has_work(); }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  [[nodiscard]] std::uint64_t queued() const { return held_.queued(); }
  [[nodiscard]] std::uint64_t running() const { return count_tasks(held_.running()); }
  [[nodiscard]] std::uint64_t unsent() const { return held_.done(); }
  [[nodiscard]] bool waiting() const { return asked_; }
  friend bool operator==(farm_worker const&, farm_worker const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  void say_hello(farm_actions& out) const;
  void hand_out(std::uint64_t limit, farm_actions& out);
  void go_on(farm_actions& out);
  void drained(farm_actions& out);
  void enqueue(range_list const& ranges, bool look);
  void on_grant(farm::grant const& m, farm_actions& out);
  void on_suspect(farm::grant_suspect const& m);
  void on_ring(rank_id from, farm_message const& m, farm_actions& out);
  void tell_stock(farm::take_stock const& m, farm_actions& out);
  [[nodiscard]] std::uint64_t wanted() const;
  [[nodiscard]] bool may_ask() const;
  void maybe_ask(farm_actions& out);
  void maybe_steal(farm_actions& out);
  void tell_begun(farm_actions& out);
  void maybe_flush(farm_actions& out);
  void flush(farm_actions& out);
  void maybe_stopped(farm_actions& out);
  void say(farm_message m, farm_actions& out) const { out.push_back(farm::send{config_.root, std::move(m)}); }

  farm_worker_config config_;
  attendance attendance_;
  held_tasks held_;
  std::optional<farm_ring> ring_;
  range_list untold_;           // of what runs, what the root has not been told
  bool tells_always_ = false;   // a rank was lost: the root wants to know all that is begun
  bool stole_ = false;          // the root does not know what this rank begins next
  std::uint64_t finished_ = 0;  // tasks finished since begin
  std::uint64_t reach_ = 1;     // tasks that cover a round trip: the latest limit of a compute thread
  bool asked_ = false;
  bool closed_ = false;        // the root has said that there is nothing more
  bool heard_ = false;         // from the root, in this run
  unsigned ticks_ = 0;         // since the last message to or from the root, stock-taking aside
  unsigned unsent_ticks_ = 0;  // since results last left
};

}  // namespace skel::role
