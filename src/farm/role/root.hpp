// The root's side of a farm: membership, recorded results, and recovery from losses.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/audits.hpp"
#include "farm/role/begun_tasks.hpp"
#include "farm/role/dealer.hpp"
#include "farm/role/failed_tasks.hpp"
#include "farm/role/stock.hpp"
#include "role/roll_call.hpp"
#include "role/suspects.hpp"
#include "role/task_set.hpp"
#include "skel/on_error.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_root_config {
  rank_id root = 0;
  rank_id ranks = 0;                   ///< of the run, the root included
  rank_id first_worker = 0;            ///< this rank and those after it compute
  std::optional<std::uint64_t> tasks;  ///< empty: a stream, which supplied() extends until it ends
  task_costs costs{};                  ///< if known: in decreasing order, and 1 on average
  std::uint64_t costly = 0;            ///< this many tasks, the first ones, are granted one at a time
  farm_policy policy;
  bool ordered = false;      ///< the sink takes tasks in order: the window counts from the first missing one
  bool merged = false;       ///< results of several tasks come as one value: all are recorded, or none
  std::uint64_t window = 0;  ///< most tasks given out whose results the sink has not received; 0: no limit
  /// With shrinking grants, the largest first grant to another rank; the limit grows fourfold with each
  /// grant, since the cost of handling results is unknown before the first arrive. 0: no limit.
  std::uint64_t first_grant = 0;
  bool root_in_place = false;  ///< the root computes where results are kept: no copies of what it runs
  std::uint64_t call_hash = 0;
  /// The run ends with an error when this many lost ranks were running the same task; 0: never.
  unsigned most_losses = 0;
  error_policy on_error{};
  /// This share of the tasks, 0 to 1, runs on two ranks whose results must agree; not with `merged`.
  double audit = 0;
  /// All results wait until the last audit is settled; otherwise those of a rank wait while one of its
  /// audited results is in doubt.
  bool audit_holds = false;
  /// This run continues an earlier one: the root deals the remaining tasks even if workers could compute
  /// their shares of the whole list.
  bool resumed = false;
  range_list restored{};  ///< tasks with results from the earlier run; they are not given
  [[nodiscard]] rank_id workers() const { return ranks - first_worker; }
  friend bool operator==(farm_root_config const&, farm_root_config const&) = default;
};

/// Records the first result of each task. A task counts as given until its result is back: after a loss the
/// root asks the living ranks what they hold (stock_taking) and gives tasks that are neither recorded nor
/// claimed again (farm_dealer). Tasks that the lost rank was running (begun_tasks) are suspected of having
/// ended it and go to one rank at a time (suspects). Tasks that threw (failed_tasks) run again or are left
/// out, as config.on_error says. Some tasks run on two ranks that must agree (farm_audits), as config.audit
/// says. A regular value; events append their actions to `out`.
class farm_root {
 public:
  farm_root() = default;
  explicit farm_root(farm_root_config config);

  void begin(farm_actions& out);
  /// Sets the time of the following events, in seconds since some fixed moment.
  void at(double seconds) { now_ = std::max(now_, seconds); }
  /// The source has produced tasks [0, available). `ended`: these are all.
  void supplied(std::uint64_t available, bool ended, farm_actions& out);
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next, farm_actions& out);
  /// The window holds this many tasks, but at least one per thread, and at most config.window.
  void resize_window(std::uint64_t tasks);
  void sink_failed(task_id id, std::string text, farm_actions& out);
  void source_failed(std::string text, farm_actions& out);
  void stop_early(farm_actions& out);
  /// While `on`, other ranks get nothing more and the root runs the remaining tasks itself, because handling
  /// a remote result costs it more than running a task.
  void hold_back(bool on, farm_actions& out);
  /// A message costs the root this many seconds. With many ranks, results then travel less often.
  void message_cost(double seconds);
  /// The versions of the audited results in the message that on() receives next.
  void compared(std::vector<task_version> versions) { versions_ = std::move(versions); }
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  /// The rank was killed from outside, so its loss says less about what it ran. Comes before lost().
  void from_outside(rank_id rank) { suspects_.from_outside(rank); }
  void tick(farm_actions& out);
  void abort(std::string text, farm_actions& out);

  [[nodiscard]] bool finished() const { return roll_.finished(); }
  [[nodiscard]] bool stopping() const { return roll_.stopping(); }
  [[nodiscard]] bool holds_back() const { return dealer_.holds_back(); }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] std::uint64_t given() const { return dealer_.given(); }
  /// Number of tasks that the source has produced and that no rank was given.
  [[nodiscard]] std::uint64_t pooled() const { return dealer_.pool().tasks(); }
  [[nodiscard]] std::uint64_t handed_out_again() const { return handed_out_again_; }
  /// Whether a task may run, or may have run, on two ranks.
  [[nodiscard]] bool may_run_twice() const {
    return handed_out_again_ > 0 || copies_ > 0 || audits_.on() ||
           (config_.policy.copies && config_.policy.more == schedule::more_from::ring);
  }
  [[nodiscard]] farm_audits const& audits() const { return audits_; }
  /// Whether the result of a task must be compared with others.
  [[nodiscard]] bool compares(task_id id) const { return audits_.chooses(id) && !recorded_.contains(id); }
  /// Number of copies of running tasks that other ranks were given.
  [[nodiscard]] std::uint64_t copies() const { return copies_; }
  /// Number of tasks that will have no result.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const { return roll_.lost_ranks(); }
  [[nodiscard]] std::vector<rank_id> not_stopped() const { return roll_.not_stopped(); }
  [[nodiscard]] bool runs(rank_id rank) const { return roll_.runs(rank); }
  /// The tasks of `ranges` that have no result yet.
  [[nodiscard]] range_list not_recorded(range_list const& ranges) const;
  /// Whether a lost rank may have been running this task.
  [[nodiscard]] bool is_suspect(task_id id) const { return suspects_.contains(id); }
  /// Whether too many lost ranks were running it to give it again.
  [[nodiscard]] bool blames(task_id id) const { return suspects_.blames(id); }
  friend bool operator==(farm_root const&, farm_root const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  [[nodiscard]] bool knows(rank_id rank) const { return rank >= 0 && rank < config_.ranks; }
  /// Performs a step of the roll call and sends its messages.
  template <class... Parameters, class... Arguments>
  void roll(farm_actions& out, void (roll_call::*step)(Parameters...), Arguments&&... arguments) {
    call_messages told;
    (roll_.*step)(std::forward<Arguments>(arguments)..., told);
    tell(told, out);
  }
  void tell(call_messages& told, farm_actions& out);
  /// Sends the dealer's decisions to the ranks.
  void give(farm_actions& out);
  void serve_all(farm_actions& out);
  void push(farm_actions& out);
  /// True if no task will come into the pool any more.
  [[nodiscard]] bool no_more() const { return source_ended_ && !stock_.under_way(); }
  [[nodiscard]] bool restored_fit(farm_actions& out);
  void deal(farm_actions& out);
  void maybe_complete(farm_actions& out);

  void on_hello(rank_id rank, hello const& m, farm_actions& out);
  void on_ask(rank_id rank, farm::ask const& m, farm_actions& out);
  void on_results(rank_id rank, farm::results const& m, farm_actions& out);
  void on_begins(rank_id rank, farm::begins const& m, farm_actions& out);
  void on_stock(rank_id rank, farm::stock const& m, farm_actions& out);
  [[nodiscard]] bool tasks_exist(rank_id rank, range_list const& ranges, farm_actions& out);
  void record(range_list const& ranges, farm_actions& out);
  void settle(task_range const& fresh);
  void record_merged(range_list const& ranges, farm_actions& out);
  void put_back(range_list const& ranges);

  [[nodiscard]] bool directs() const { return config_.policy.more == schedule::more_from::root_then_ranks; }
  void told(rank_id rank, std::optional<farm::load> const& here);
  bool direct(rank_id rank, bool copies, farm_actions& out);
  bool give_copy(rank_id rank, farm_actions& out);
  void direct_idle(bool at_once, farm_actions& out);
  [[nodiscard]] bool may_copy(rank_id owner, task_range const& tasks) const;
  void give_early_copies(farm_actions& out);

  void take_stock(farm_actions& out);
  void finish_stock(farm_actions& out);
  [[nodiscard]] bool may_blame(rank_id rank) const;
  [[nodiscard]] bool watches(rank_id rank) const;
  void find_suspects();
  void give_suspects(farm_actions& out);

  void on_task_failed(rank_id from, farm::task_failed const& m, farm_actions& out);
  void give_failed(farm_actions& out);
  [[nodiscard]] std::optional<rank_id> taker_of_failed(task_id id) const;
  void give_up(farm::leave_out task, farm_actions& out);

  void audit(rank_id rank, range_list const& ranges, farm_actions& out);
  void judge(task_id id, farm_actions& out);
  void disagree(task_id id, std::string text, farm_actions& out);
  void settle_audit(task_id id, std::uint64_t version, bool checked, farm_actions& out);
  void give_audits(farm_actions& out);
  void give_up_audit(task_id id, farm_actions& out);
  void release_of(rank_id rank, farm_actions& out);
  void release(rank_id rank, farm_actions& out);
  void dismiss(rank_id rank, task_id task, farm_actions& out);
  void enlist_root(farm_actions& out);

  farm_root_config config_;
  roll_call roll_;
  farm_dealer dealer_;
  stock_taking stock_;
  begun_tasks begun_;
  suspects<task_id> suspects_;
  failed_tasks failed_;
  farm_audits audits_;
  std::vector<task_version> versions_;  // of the message at hand
  task_set recorded_;
  std::uint64_t available_ = 0;  // number of tasks that the source has produced
  bool source_ended_ = false;
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;  // an ordered sink waits for this task
  std::uint64_t left_out_ = 0;
  std::uint64_t handed_out_again_ = 0;
  std::uint64_t copies_ = 0;
  double now_ = 0;
  double looked_ = 0;        // time of the latest search for late tasks
  double looked_early_ = 0;  // the same, for ranks that have other tasks
  double vain_until_ = 0;    // until then ranks of vain_speed_ and slower ones need not search
  double vain_speed_ = 0;
  task_id restored_end_ = 0;      // behind the last restored task
  std::uint64_t spacing_ = 0;     // microseconds between two results messages of a rank
  by_rank<std::uint64_t> paced_;  // the spacing that each rank was told
  assignments decided_;           // the dealer's decisions; empty between two events, kept for its memory
};

}  // namespace skel::role
