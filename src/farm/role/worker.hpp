// The worker's side of a farm: a queue, what runs, what waits to be sent, whom it asked.
#pragma once

#include <deque>
#include <optional>

#include "farm/role/action.hpp"
#include "role/ring_search.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct worker_config {
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
  std::optional<std::uint64_t> threshold;  ///< empty: whatever covers a round trip
  bool early = true;                       ///< may ask while its last tasks run
  range_list share;                        ///< what it starts with
  /// The ranks to steal from when the root has nothing (more), in the order of the ring; empty: none.
  std::shared_ptr<std::vector<rank_id> const> ring{};
  steal_size take = steal_size::half;
  steal_end give = steal_end::last;
  ring_order order = ring_order::successors;
  bool copies = false;  ///< may give and run copies of tasks that run
  friend bool operator==(worker_config const&, worker_config const&) = default;
};

/// Every schedule of the farm uses this one role. A regular value; events append their actions to `out`.
class worker {
 public:
  worker() = default;
  explicit worker(worker_config config);

  void begin(actions& out);
  /// A compute thread is free and would take at most `limit` tasks (about 100 microseconds of work, one at
  /// least).
  void idle(std::uint64_t limit, actions& out);
  /// A compute thread has finished `range`, all of what execute gave it or its front part. `next_limit` > 0:
  /// the thread is free for so many more; 0: it goes on with the rest of its range.
  void finished(task_range const& range, std::uint64_t next_limit, actions& out);
  /// Task `id` threw; the tasks of `dropped` (the rest of its range) will not run. The thread is free.
  void failed(task_id id, std::string text, task_range const& dropped, actions& out);
  void on(rank_id from, message const& m, actions& out);
  void lost(rank_id rank, actions& out);
  void tick(actions& out);
  /// This rank wants the run to end early.
  void please_stop(actions& out);

  /// Somebody else was first with these tasks: those that wait are not run. (Those that run do no harm.)
  void drop(task_range const& range);

  [[nodiscard]] bool has_work() const { return !queue_.empty() || !suspects_.empty(); }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::uint64_t queued() const { return queued_; }
  [[nodiscard]] std::uint64_t running() const { return count_tasks(running_); }
  [[nodiscard]] std::uint64_t unsent() const { return done_count_; }
  [[nodiscard]] bool waiting() const { return asked_; }
  /// Times that this rank got tasks from another one.
  [[nodiscard]] std::uint64_t steals() const { return steals_; }
  /// Tasks that this rank has given to others.
  [[nodiscard]] std::uint64_t tasks_given() const { return tasks_given_; }
  friend bool operator==(worker const&, worker const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  void say_hello(actions& out) const;
  [[nodiscard]] range_list not_held(range_list const& ranges) const;
  [[nodiscard]] std::uint64_t wanted() const;
  void hand_out(std::uint64_t limit, actions& out);
  void start(task_range const& range, actions& out);
  void tell_begun(actions& out);
  [[nodiscard]] bool dry() const { return !has_work() && running_.empty(); }
  [[nodiscard]] bool may_ask() const;
  void maybe_ask(actions& out);
  void maybe_steal(actions& out);
  void on_steal(rank_id thief, message const& m, actions& out);
  void on_give(rank_id victim, message const& m, actions& out);
  void on_none(rank_id victim, message const& m, actions& out);
  void give(rank_id thief, actions& out);
  void feed_hungry(actions& out);
  void enqueue(range_list const& ranges, bool look);
  void forget_thief(rank_id rank);
  void tick_ring(actions& out);
  void ask(rank_id victim, std::uint64_t copies, actions& out);
  [[nodiscard]] double copier_of(task_range const& r) const;
  [[nodiscard]] range_list worth_a_copy(double power) const;
  void give_copy(rank_id thief, double power, actions& out);
  [[nodiscard]] std::uint64_t spare() const;
  void maybe_flush(actions& out);
  void flush(actions& out);
  void maybe_stopped(actions& out);
  void not_running(task_range const& range);
  void tell_root(message m, actions& out) const { out.push_back(send{config_.root, std::move(m)}); }

  worker_config config_;
  std::deque<task_range> queue_;
  std::uint64_t queued_ = 0;
  range_list suspects_;  // given to this rank; they come first, one task at a time
  range_list watched_;   // those that run: the root waits for their results
  range_list running_;
  range_list untold_;         // of these, what the root has not been told
  bool always_told_ = false;  // a rank was lost: the root wants to know all that is begun
  bool stole_ = false;        // the root does not know what this rank begins next
  range_list done_;           // finished, results not sent yet
  std::uint64_t done_count_ = 0;
  std::uint64_t finished_ = 0;  // tasks finished since begin
  std::uint64_t reach_ = 1;     // tasks that cover a round trip: the latest limit of a compute thread
  bool asked_ = false;
  bool closed_ = false;      // the root has said that there is nothing more
  bool stopping_ = false;    // starts nothing more: a task of its own failed, or it was told
  bool stop_heard_ = false;  // from the root
  bool wants_stop_ = false;
  std::optional<message> failure_;
  bool told_stopped_ = false;
  bool ended_ = false;
  bool heard_ = false;         // from the root, in this run
  unsigned ticks_ = 0;         // since the last message to or from the root, stock-taking aside
  unsigned unsent_ticks_ = 0;  // since results last left

  // thief and victim
  ring_search search_;
  std::optional<rank_id> victim_;  // asked, has not answered
  bool searching_ = false;
  bool resting_ = false;  // came round in vain: waits to be given something
  unsigned unanswered_ = 0;
  std::vector<rank_id> hungry_;  // have asked in vain
  bool held_by_others_ = false;  // what this rank has may be held by another one, too
  struct copied {
    task_range task;
    double power;  // of the fastest rank that it was given to; infinite: it is a copy itself
    friend bool operator==(copied const&, copied const&) = default;
  };
  std::vector<copied> copied_;
  struct candidate {
    rank_id rank;
    double power;
    friend bool operator==(candidate const&, candidate const&) = default;
  };
  std::vector<candidate> may_copy_;  // ranks met in this search that run tasks worth a copy
  std::uint64_t steals_ = 0;
  std::uint64_t tasks_given_ = 0;
};

}  // namespace skel::role
