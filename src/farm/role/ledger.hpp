// The root's side of a farm: what is left to give, what is recorded, who takes part.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "farm/role/action.hpp"
#include "role/task_set.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct ledger_config {
  rank_id root = 0;
  std::vector<rank_id> ranks;          ///< everybody in the run, the root included
  std::vector<rank_id> workers;        ///< those that compute, in the order of the deal
  std::optional<std::uint64_t> tasks;  ///< empty: a stream that supplied() extends until it ends
  farm_policy policy;
  results_policy results;
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
  range_list restored{};  ///< tasks whose results the earlier run left; nobody is given them
  friend bool operator==(ledger_config const&, ledger_config const&) = default;
};

/// Gives tasks, records results once (the first wins), finds out what a lost rank took with it. The giver
/// keeps the task until its result is back: a loss means that the living are asked what they hold, and
/// whatever is neither recorded nor claimed is dealt out again.
///
/// What the lost rank was running is suspected of having ended it. Workers say with their results what they
/// have begun. Suspects are given to one rank at a time each, never to the root while others compute, and a
/// rank says when it begins one. So the second loss tells which one it was. A regular value; events append
/// their actions to `out`.
class ledger {
 public:
  ledger() = default;
  explicit ledger(ledger_config config);

  void begin(actions& out);
  /// The source has produced tasks [0, available); `ended`: there are no more.
  void supplied(std::uint64_t available, bool ended, actions& out);
  /// The sink has had `count` tasks in all; in task order, the next it waits for is `next`.
  void sunk(std::uint64_t count, task_id next, actions& out);
  void sink_failed(task_id id, std::string text, actions& out);
  void source_failed(std::string text, actions& out);
  void stop_early(actions& out);
  /// While `on`, other ranks wait for more: handling one of their results costs the root more than a task of
  /// its own would, so it does what is left itself.
  void hold_back(bool on, actions& out);
  [[nodiscard]] bool holds_back() const { return held_back_; }
  void on(rank_id from, message const& m, actions& out);
  void lost(rank_id rank, actions& out);
  void tick(actions& out);
  void abort(std::string text, actions& out);

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] outcome const& result() const { return outcome_; }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] std::uint64_t given() const { return given_; }
  /// Those of `ranges` that have no result yet: what the root may still be given to run.
  [[nodiscard]] range_list not_recorded(range_list const& ranges) const;
  /// Tasks that the source has produced and nobody was given.
  [[nodiscard]] std::uint64_t pooled() const { return pooled_; }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const;
  [[nodiscard]] std::uint64_t handed_out_again() const { return handed_out_again_; }
  [[nodiscard]] std::vector<rank_id> not_stopped() const;
  /// Whether a lost rank may have been running this task.
  [[nodiscard]] bool suspects(task_id id) const { return suspects_.contains(id); }
  /// Whether so many were that it is given to nobody any more.
  [[nodiscard]] bool blames(task_id id) const;
  friend bool operator==(ledger const&, ledger const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct peer {
    bool alive = true;
    bool hello = false;
    bool waiting = false;  // has asked and was not served yet
    bool closed = false;   // was told that there is nothing more, or never asks: new work is pushed
    bool stopped = false;
    bool computes = false;
    bool stock_due = false;
    int threads = 1;
    std::uint64_t wanted = 1;
    double power = 0;
    unsigned grants = 0;
    range_list running;   // what its threads run, as it was told last
    bool judged = false;  // lost, and nothing in this round of stock-taking is claimed by it
    friend bool operator==(peer const&, peer const&) = default;
  };
  // A task without a result that was running on a lost rank.
  struct suspect {
    struct loss {
      std::size_t peer = 0;
      bool watched = false;  // the task was a suspect already, and the rank had said that it began it
      bool alone = false;    // and nothing else was running there
      friend bool operator==(loss const&, loss const&) = default;
    };
    std::vector<loss> losses;  // ranks that were heard of again do not count
    bool given = true;
    std::optional<std::size_t> holder;
    friend bool operator==(suspect const&, suspect const&) = default;
  };

  [[nodiscard]] peer* find(rank_id rank);
  [[nodiscard]] int all_threads() const;
  [[nodiscard]] bool room(task_id id) const;
  [[nodiscard]] bool keeps_for_root(std::size_t index);
  [[nodiscard]] std::uint64_t grant_for(std::size_t index);
  [[nodiscard]] std::uint64_t open() const;
  void add_to_pool(range_list const& fresh);
  [[nodiscard]] bool restored_fit(actions& out);
  void put_back(range_list const& ranges);
  void take_from_pool(task_range const& recorded);
  [[nodiscard]] bool tasks_exist(std::size_t index, range_list const& ranges, actions& out);
  void record_all(range_list const& ranges, actions& out);
  void record_merged(range_list const& ranges, actions& out);
  void enlist_root(actions& out);
  void give(std::size_t index, std::uint64_t n, actions& out);
  void serve(std::size_t index, actions& out);
  void serve_waiting(actions& out);
  void push_to_closed(actions& out);
  void deal_shares(actions& out);
  [[nodiscard]] std::vector<range_list> shares_of(std::vector<std::size_t> const& takers,
                                                  range_list const& left, std::uint64_t cut) const;
  void on_hello(std::size_t index, message const& m, actions& out);
  void on_results(std::size_t index, message const& m, actions& out);
  void take_stock(actions& out);
  void on_stock(std::size_t index, message const& m, actions& out);
  void stock_complete(actions& out);
  [[nodiscard]] range_list first_share(std::size_t index) const;
  void expect(std::size_t index, range_list const& given);
  void on_begins(std::size_t index, message const& m, actions& out);
  [[nodiscard]] bool blamed(suspect const& s) const;
  [[nodiscard]] bool still_lost(suspect::loss const& l) const { return !peers_[l.peer].alive; }
  void find_suspects();
  void acquit(range_list const& done, actions& out);
  void give_suspects(actions& out);
  void blame(actions& out);
  void maybe_complete(actions& out);
  void begin_stop(actions& out);
  void maybe_finish(actions& out);

  ledger_config config_;
  std::vector<peer> peers_;  // one per rank of config_.ranks
  std::deque<task_range> pool_;
  std::uint64_t pooled_ = 0;
  std::uint64_t available_ = 0;  // tasks the source has produced
  bool source_ended_ = false;
  bool dealt_ = true;        // what the root deals by itself has been dealt
  std::uint64_t given_ = 0;  // tasks given, each grant counted
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
  task_set recorded_;
  task_id restored_end_ = 0;         // behind the last restored task
  std::uint64_t restored_ = 0;       // tasks
  std::uint64_t restored_here_ = 0;  // of those, as many as the source has produced
  std::uint64_t handed_out_again_ = 0;
  std::optional<std::size_t> last_lost_;  // index of the rank lost last
  std::uint64_t failures_ = 0;
  bool held_back_ = false;
  bool stopping_ = false;
  bool finished_ = false;
  bool stock_round_ = false;
  std::uint64_t round_ = 0;
  task_set claimed_;          // in this round of stock-taking
  unsigned quiet_ticks_ = 0;  // ticks since the run last moved
  unsigned stop_ticks_ = 0;
  unsigned stock_ticks_ = 0;  // ticks since stock was last taken, while somebody is lost
  unsigned stock_pause_ = 1;  // ticks until it is taken again
  std::map<task_id, suspect> suspects_;
  unsigned blame_ticks_ = 0;  // for which there has been a task to blame
  std::optional<std::string> aborted_;
  outcome outcome_;
};

}  // namespace skel::role
