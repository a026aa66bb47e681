// The root's side of a farm: who takes part, what is recorded, and what a lost rank took with it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/begun_tasks.hpp"
#include "farm/role/dealer.hpp"
#include "farm/role/stock.hpp"
#include "role/roll_call.hpp"
#include "role/suspects.hpp"
#include "role/task_set.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_ledger_config {
  rank_id root = 0;
  std::vector<rank_id> ranks;          ///< all ranks of the run, the root included
  std::vector<rank_id> workers;        ///< those that compute, in the order of the deal
  std::optional<std::uint64_t> tasks;  ///< empty: a stream that supplied() extends until it ends
  farm_policy policy;
  bool ordered = false;  ///< the sink takes tasks in order: the window is counted from the first one missing
  bool merged = false;   ///< results of several tasks come as one value: all are recorded or none
  std::uint64_t window = 0;  ///< most tasks given out whose results the sink has not had; 0: no limit
  /// Largest first grant to another rank where grants shrink; the next may be four times as large, and so on:
  /// what handling a result costs is not known before the first have come. 0: no limit.
  std::uint64_t first_grant = 0;
  std::uint64_t call_hash = 0;
  /// A task that was running on so many lost ranks ends the run; 0: none does.
  unsigned most_losses = 0;
  /// This run goes on with an earlier one: the root deals what is left, also where workers would know their
  /// shares of a whole list.
  bool resumed = false;
  range_list restored{};  ///< tasks whose results the earlier run left; they are not given
  friend bool operator==(farm_ledger_config const&, farm_ledger_config const&) = default;
};

/// Records results once: the first wins. The giver keeps a task until its result is back: after a loss the
/// living are asked what they hold (stock_taking), and what is neither recorded nor claimed is given again
/// (farm_dealer). What the lost rank was running (begun_tasks) is suspected of having ended it: such tasks
/// are given to one rank at a time (suspects). A regular value; events append their actions to `out`.
class farm_ledger {
 public:
  farm_ledger() = default;
  explicit farm_ledger(farm_ledger_config config);

  void begin(farm_actions& out);
  /// The source has produced tasks [0, available); `ended`: there are no more.
  void supplied(std::uint64_t available, bool ended, farm_actions& out);
  /// The sink has received `count` results in all; in task order, the next it waits for is `next`.
  void sunk(std::uint64_t count, task_id next, farm_actions& out);
  void sink_failed(task_id id, std::string text, farm_actions& out);
  void source_failed(std::string text, farm_actions& out);
  void stop_early(farm_actions& out);
  /// While `on`, other ranks wait for more: handling one of their results costs the root more than a task of
  /// its own would, so it does what is left itself.
  void hold_back(bool on, farm_actions& out);
  void on(rank_id from, farm_message const& m, farm_actions& out);
  void lost(rank_id rank, farm_actions& out);
  void tick(farm_actions& out);
  void abort(std::string text, farm_actions& out);

  [[nodiscard]] bool finished() const { return roll_.finished(); }
  [[nodiscard]] bool stopping() const { return roll_.stopping(); }
  [[nodiscard]] bool holds_back() const { return dealer_.holds_back(); }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] std::uint64_t given() const { return dealer_.given(); }
  /// Tasks that the source has produced and no rank was given.
  [[nodiscard]] std::uint64_t pooled() const { return dealer_.pool().tasks(); }
  [[nodiscard]] std::uint64_t handed_out_again() const { return handed_out_again_; }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const { return roll_.lost_ranks(); }
  [[nodiscard]] std::vector<rank_id> not_stopped() const { return roll_.not_stopped(); }
  /// Those of `ranges` that have no result yet: what the root may still be given to run.
  [[nodiscard]] range_list not_recorded(range_list const& ranges) const;
  /// Whether a lost rank may have been running this task.
  [[nodiscard]] bool is_suspect(task_id id) const { return suspects_.contains(id); }
  /// Whether so many were that it is not given any more.
  [[nodiscard]] bool blames(task_id id) const { return suspects_.blames(id); }
  friend bool operator==(farm_ledger const&, farm_ledger const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(rank_id rank) const;
  /// A step of the roll call, and what it says.
  template <class... Parameters, class... Arguments>
  void roll(farm_actions& out, void (roll_call::*step)(Parameters...), Arguments&&... arguments) {
    call_messages told;
    (roll_.*step)(std::forward<Arguments>(arguments)..., told);
    tell(told, out);
  }
  void tell(call_messages& told, farm_actions& out);
  /// What the dealer has decided is told to the ranks.
  void give(farm_actions& out);
  void serve_all(farm_actions& out);
  void push(farm_actions& out);
  /// The pool will stay empty.
  [[nodiscard]] bool no_more() const { return source_ended_ && !stock_.under_way(); }
  [[nodiscard]] bool restored_fit(farm_actions& out);
  void deal(farm_actions& out);
  void maybe_complete(farm_actions& out);

  void on_hello(std::size_t index, hello const& m, farm_actions& out);
  void on_results(std::size_t index, farm::results const& m, farm_actions& out);
  void on_begins(std::size_t index, farm::begins const& m, farm_actions& out);
  void on_stock(std::size_t index, farm::stock const& m, farm_actions& out);
  [[nodiscard]] bool tasks_exist(std::size_t index, range_list const& ranges, farm_actions& out);
  void record(range_list const& ranges, farm_actions& out);
  void record_merged(range_list const& ranges, farm_actions& out);
  void put_back(range_list const& ranges);

  void take_stock(farm_actions& out);
  void finish_stock(farm_actions& out);
  [[nodiscard]] bool watches(std::size_t index) const;
  void find_suspects();
  void give_suspects(farm_actions& out);

  farm_ledger_config config_;
  roll_call roll_;
  farm_dealer dealer_;
  stock_taking stock_;
  begun_tasks begun_;
  suspects<task_id> suspects_;
  task_set recorded_;
  std::uint64_t available_ = 0;  // tasks that the source has produced
  bool source_ended_ = false;
  std::uint64_t sunk_ = 0;
  std::uint64_t handed_out_again_ = 0;
  task_id restored_end_ = 0;  // behind the last restored task
  assignments decided_;       // by the dealer; empty between two events, kept for its memory
};

}  // namespace skel::role
