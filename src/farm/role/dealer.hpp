// Decides which rank of a farm gets which tasks, and how many.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "farm/role/compute_ranks.hpp"
#include "farm/role/config.hpp"
#include "farm/role/rank_loads.hpp"
#include "protocol/task_set.hpp"

namespace skel::role {

/// The tasks that were not given yet, or came back. Never holds a task twice, nor a recorded
/// one, since the window is computed from what is not in the pool. A regular value.
class task_pool {
 public:
  task_pool() = default;
  /// `window`: most tasks given out whose results the sink has not received; 0: no limit. In task order
  /// (`ordered`) it counts from the first missing task. The first `restored` results of the sink do not
  /// belong to tasks of this pool.
  task_pool(std::uint64_t window, bool ordered, std::uint64_t restored)
      : window_(window), ordered_(ordered), restored_(restored) {}

  /// Sets this number before any task is given.
  void restored(std::uint64_t results) { restored_ = results; }
  /// Adds new tasks.
  void add(range_list const& fresh);
  /// Adds tasks that were given out and that no rank holds any more. They are given next.
  void put_back(range_list const& ranges);
  /// A result of these tasks has arrived after all; `recorded`: all tasks that have one.
  void remove(task_range const& range, task_set const& recorded);
  /// Moves up to `n` tasks, as the window allows, to `to`. Returns their number.
  std::uint64_t take(std::uint64_t n, range_list& to);
  void clear();
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next);

  /// From now on the window holds this many tasks; 0: no limit.
  void resize_window(std::uint64_t tasks) { window_ = tasks; }
  [[nodiscard]] std::uint64_t window() const { return window_; }
  /// Number of tasks, from the next one on, that the window allows to give out. Only with a window.
  [[nodiscard]] std::uint64_t places() const { return empty() ? 0 : tasks_of_window(ranges_.front()); }
  /// Whether the window allows the next task to be given out.
  [[nodiscard]] bool room() const { return window_ == 0 || places() > 0; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  [[nodiscard]] std::deque<task_range> const& ranges() const { return ranges_; }
  friend bool operator==(task_pool const&, task_pool const&) = default;
  auto fields() const { return std::tie(ranges_, sunk_, sink_next_, window_); }

 private:
  [[nodiscard]] std::uint64_t open() const;
  [[nodiscard]] std::uint64_t tasks_of_window(task_range const& next) const;

  std::uint64_t window_ = 0;
  bool ordered_ = false;
  std::uint64_t restored_ = 0;
  std::deque<task_range> ranges_;
  std::uint64_t tasks_ = 0;  // tasks in ranges_
  std::uint64_t added_ = 0;  // tasks
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
};

/// How many tasks a rank gets, by the farm's policy. A regular value, part of farm_dealer.
class grant_sizes {
 public:
  grant_sizes() = default;
  explicit grant_sizes(farm_root_config const& config);

  /// The parts of `left` that are dealt to these ranks at the start. The other tasks, which are the last
  /// ones, are granted on request.
  [[nodiscard]] std::vector<range_list> shares(std::vector<rank_id> const& takers, range_list const& left,
                                               compute_ranks const& ranks) const;
  /// The next grant to a rank that wants `wanted` tasks, of those in the pool.
  [[nodiscard]] std::uint64_t next(rank_id rank, std::uint64_t wanted, task_pool const& pool,
                                   rank_loads const& loads, compute_ranks const& ranks);
  /// The most that the window allows a rank that holds `held` tasks.
  [[nodiscard]] static std::uint64_t most(rank_id rank, std::uint64_t held, task_pool const& pool,
                                          rank_loads const& loads, compute_ranks const& ranks);
  /// Relative costs of all tasks, 1 on average.
  [[nodiscard]] task_costs const& costs() const { return costs_; }
  friend bool operator==(grant_sizes const&, grant_sizes const&) = default;
  auto fields() const { return std::tie(grants_); }

 private:
  [[nodiscard]] std::uint64_t of_average_cost(std::uint64_t n, task_pool const& pool) const;

  farm_policy policy_;
  std::uint64_t first_grant_ = 0;
  rank_id root_ = 0;
  task_costs costs_;
  std::uint64_t costly_ = 0;
  by_rank<unsigned> grants_;
};

/// A decision: these tasks go to this rank.
struct assignment {
  rank_id rank = 0;
  range_list tasks{};  ///< empty: no more tasks will come
};
using assignments = std::vector<assignment>;

/// What each rank has asked for, and how many tasks it holds. A regular value, part of farm_dealer.
class task_requests {
 public:
  struct request {
    bool waiting = false;  // has asked and was not served yet
    bool closed = false;   // knows that nothing more will come, or never asks: new work is pushed
    std::uint64_t wanted = 1;
    std::uint64_t held = 0;  // tasks given and not finished; after losses an estimate
  };

  task_requests() = default;
  explicit task_requests(rank_id ranks) : all_(ranks) {}

  request& operator[](rank_id rank) { return all_[rank]; }
  request const& operator[](rank_id rank) const { return all_[rank]; }
  /// The rank wants `n` tasks. Repeated requests change nothing.
  void asks(rank_id rank, std::uint64_t n) {
    if (auto& r = all_[rank]; !std::exchange(r.waiting, true)) r.wanted = n;
  }
  void close(rank_id rank) { all_[rank].closed = any_closed_ = true; }
  [[nodiscard]] bool any_closed() const { return any_closed_; }
  /// The rank could not be served at once.
  void wait(rank_id rank) { queue_.insert(rank); }
  /// The rank after this one that waits, or has waited; it no longer does.
  [[nodiscard]] std::optional<rank_id> take_after(rank_id rank);
  /// Number of tasks that waiting ranks have asked for.
  [[nodiscard]] std::uint64_t wanted() const;
  friend bool operator==(task_requests const&, task_requests const&) = default;
  auto fields() const { return std::tie(all_); }

 private:
  by_rank<request> all_;
  std::set<rank_id> queue_;  // ranks that were not served at once, and some that no longer wait
  bool any_closed_ = false;
};

/// Decides by the farm's policy. A regular value, part of farm_book; decisions are appended to `out`.
class farm_dealer {
 public:
  farm_dealer() = default;
  farm_dealer(farm_root_config const& config, task_pool pool);

  // --- the ranks
  /// The rank takes part. Returns false if it had said so before.
  bool hello(rank_id rank, std::uint64_t threads, double power);
  void lost(rank_id rank);
  void heard(rank_id rank) { ranks_.heard(rank); }
  /// The rank is to compute nothing more.
  void dismiss(rank_id rank);
  /// The rank takes nothing more, or goes on (compute_ranks).
  bool retires(rank_id rank, bool does, bool vacant);
  /// While `on`, other ranks get nothing more, and the root runs the remaining tasks itself.
  void hold_back(bool on) { held_back_ = on; }
  /// While `on`, a root that computes gets nothing more, because the others end earlier without it.
  void rest_root(bool on) { root_rests_ = on; }
  /// Lets a root that only serves compute if no other rank is left.
  void enlist_root(assignments& out);

  // --- tasks
  /// True if all living ranks that compute have said hello and deal() has not been called yet.
  [[nodiscard]] bool may_deal() const;
  /// Deals the tasks `left` to the ranks; those that the policy does not deal go to the pool.
  void deal(range_list const& left, assignments& out);
  /// Answers a request if possible. `last`: no more tasks will come into the pool.
  void serve(rank_id rank, bool last, assignments& out);
  void serve_all(bool last, assignments& out);
  /// Gives tasks that came back to ranks that no longer ask, an even part to each.
  void push(assignments& out);
  /// Counts a task that is given without a request.
  void count_given() { ++given_; }
  /// This many tasks of the rank have ended.
  void finished(rank_id rank, std::uint64_t tasks);
  /// From now on nothing is given.
  void stop();

  [[nodiscard]] task_pool& pool() { return pool_; }
  [[nodiscard]] task_pool const& pool() const { return pool_; }
  [[nodiscard]] rank_loads& loads() { return loads_; }
  [[nodiscard]] task_requests& requests() { return requests_; }
  [[nodiscard]] task_requests const& requests() const { return requests_; }
  [[nodiscard]] compute_ranks const& ranks() const { return ranks_; }
  [[nodiscard]] task_costs const& costs() const { return sizes_.costs(); }
  [[nodiscard]] bool dealt() const { return dealt_; }
  [[nodiscard]] bool holds_back() const { return held_back_; }
  /// Number of tasks given; a task that is given twice counts twice.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  /// The ranks that may run a task alone, waiting ones first. The root is among them only if no other rank
  /// computes, since no rank can replace it.
  [[nodiscard]] std::vector<rank_id> takers_alone() const;
  friend bool operator==(farm_dealer const&, farm_dealer const&) = default;
  auto fields() const {
    return std::tie(pool_, loads_, ranks_, sizes_, dealt_, given_, held_back_, root_rests_, stopped_,
                    last_lost_, requests_);
  }

 private:
  void give(rank_id rank, std::uint64_t n, assignments& out);
  [[nodiscard]] bool must_wait(rank_id rank) const;

  rank_id root_ = 0;
  schedule::takeover after_loss_{};
  compute_ranks ranks_;
  task_requests requests_;
  rank_loads loads_;
  task_pool pool_;
  grant_sizes sizes_;
  bool dealt_ = true;
  std::uint64_t given_ = 0;
  bool held_back_ = false;
  bool root_rests_ = false;
  bool stopped_ = false;
  std::optional<rank_id> last_lost_;
};

}  // namespace skel::role
