// The root's side of a farm: what it answers to the messages of ranks, and to events of the source and the
// sink.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "farm/role/accepted_results.hpp"
#include "farm/role/balancer.hpp"
#include "farm/role/book.hpp"

namespace skel::role {

/// Gives tasks to ranks until each has a result that counts (accepted_results), or is left out because it
/// threw (failed_tasks) or ended its ranks (farm_losses) too often. A regular value; events append their
/// actions to `out`.
class farm_root {
 public:
  farm_root() = default;
  explicit farm_root(farm_root_config config);

  void begin(farm_actions& out);
  /// Sets the time of the following events, in seconds since some fixed moment.
  void at(double seconds) { book_.now = std::max(book_.now, seconds); }
  /// The source has produced tasks [0, available). `ended`: these are all.
  void supplied(std::uint64_t available, bool ended, farm_actions& out);
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next, farm_actions& out);
  /// The window holds this many tasks, but at least one per thread, and at most config.window.
  void resize_window(std::uint64_t tasks);
  /// The result of this task, which has none yet, is not wanted any more.
  void cancel(task_id task, farm_actions& out);
  /// A rank wants the run to end early: it does once the tasks that run have ended.
  void please_stop(farm_actions& out);
  /// While `on`, no rank begins a task.
  void pause(bool on, farm_actions& out);
  /// While `on`, other ranks get nothing more and the root runs the remaining tasks itself, because handling
  /// a remote result costs it more than running a task.
  void hold_back(bool on, farm_actions& out);
  /// A message costs the root this many seconds. With many ranks, results then travel less often.
  void message_cost(double seconds) { book_.spacing.message_cost(seconds, config_.computing()); }
  /// The versions of the audited results in the message that on() receives next.
  void compared(std::vector<task_version> versions) { results_.compared(std::move(versions)); }
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  /// The rank was killed from outside, so its loss says less about what it ran. Comes before lost().
  void from_outside(rank_id rank) { book_.losses.suspects().from_outside(rank); }
  void tick(farm_actions& out);
  /// The run ends: messages and losses mean nothing any more.
  void stop() { book_.stop(); }

  [[nodiscard]] farm_book const& book() const { return book_; }
  [[nodiscard]] task_progress const& tasks() const { return book_.tasks; }
  /// Number of tasks that the source has produced and that no rank was given.
  [[nodiscard]] std::uint64_t pooled() const { return book_.dealer.pool().tasks(); }
  /// Number of tasks that waiting ranks have asked for.
  [[nodiscard]] std::uint64_t wanted() const { return book_.dealer.requests().wanted(); }
  /// Whether a task may run, or may have run, on two ranks.
  [[nodiscard]] bool may_run_twice() const {
    return book_.any_twice() || audits().on() ||
           (config_.policy.copies && config_.policy.more == schedule::more_from::ring);
  }
  [[nodiscard]] farm_audits const& audits() const { return results_.audits(); }
  /// Whether the result of a task must be compared with others.
  [[nodiscard]] bool compares(task_id id) const {
    return audits().chooses(id) && !book_.tasks.recorded().contains(id);
  }
  friend bool operator==(farm_root const&, farm_root const&) = default;
  auto fields() const { return std::tie(book_, audits(), ends_); }

 private:
  // One for each message; a member handles the others.
  void answer(rank_id rank, call_message const& m, farm_actions& out);
  void answer(rank_id rank, farm::ask const& m, farm_actions& out);
  void answer(rank_id rank, farm::results const& m, farm_actions& out);
  void answer(rank_id rank, farm::begins const& m, farm_actions& out);
  void answer(rank_id rank, farm::stock const& m, farm_actions& out);
  void answer(rank_id rank, farm::task_failed const& m, farm_actions& out);
  void answer(rank_id rank, farm::retires const& m, farm_actions& out);
  void answer(rank_id rank, farm::refused const& m, farm_actions& out);
  [[nodiscard]] bool misses(rank_id rank, task_id task, bool started, farm_actions& out);

  void serve(rank_id rank, farm_actions& out);
  void count_stock(bool again, farm_actions& out);
  void give_again(farm_actions& out);
  void maybe_complete(farm_actions& out);

  farm_root_config config_;
  farm_book book_;
  accepted_results results_;
  farm_balancer balancer_;
  bool ends_ = false;  // early, once no rank runs a task
};

}  // namespace skel::role
