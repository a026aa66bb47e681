// Decides which rank of a farm gets which tasks.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "farm/role/rank_loads.hpp"
#include "farm/role/task_pool.hpp"
#include "role/task_costs.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// A decision: these tasks go to this rank.
struct assignment {
  rank_id rank = 0;
  range_list tasks{};  ///< empty: no more tasks will come
  friend bool operator==(assignment const&, assignment const&) = default;
};
using assignments = std::vector<assignment>;

/// Decides by the farm's policy. A regular value; decisions are appended to `out`.
class farm_dealer {
 public:
  farm_dealer() = default;
  /// `first_grant`, `first_worker`: see farm_root_config.
  farm_dealer(farm_policy policy, std::uint64_t first_grant, rank_id ranks, rank_id first_worker,
              rank_id root, task_pool pool, task_costs costs = {}, std::uint64_t costly = 0);

  // --- the ranks
  /// The rank takes part. Returns false if it had said so before.
  bool hello(rank_id rank, std::uint64_t threads, double power);
  void lost(rank_id rank);
  void heard(rank_id rank);
  /// The rank is to compute nothing more.
  void dismiss(rank_id rank);
  /// The rank wants `n` tasks. Repeated requests change nothing.
  void asks(rank_id rank, std::uint64_t n);
  /// While `on`, other ranks get nothing more, and the root runs the remaining tasks itself.
  void hold_back(bool on) { held_back_ = on; }
  /// Lets a root that only serves compute if no other rank is left.
  void enlist_root(assignments& out);

  // --- tasks
  /// The ranks know their shares, `tasks` in total.
  void known_shares(std::uint64_t tasks) { given_ = tasks; }
  /// The pool opens with deal().
  void wait_for_deal() { dealt_ = false; }
  /// True if all living workers have said hello and deal() has not been called yet.
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
  /// The rank has said how many tasks it holds.
  void holds(rank_id rank, std::uint64_t tasks) { ranks_[rank].held = tasks; }
  /// This many tasks of the rank have ended.
  void finished(rank_id rank, std::uint64_t tasks);
  /// Number of threads of the living ranks that compute, as far as they have said hello.
  [[nodiscard]] std::uint64_t all_threads() const {
    return static_cast<std::uint64_t>(std::max(0, threads_));
  }
  /// From now on nothing is given.
  void stop();

  [[nodiscard]] task_pool& pool() { return pool_; }
  [[nodiscard]] task_pool const& pool() const { return pool_; }
  [[nodiscard]] rank_loads& loads() { return loads_; }
  [[nodiscard]] rank_loads const& loads() const { return loads_; }
  [[nodiscard]] task_costs const& costs() const { return costs_; }
  [[nodiscard]] bool dealt() const { return dealt_; }
  [[nodiscard]] bool holds_back() const { return held_back_; }
  /// Number of tasks given; a task that is given twice counts twice.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  [[nodiscard]] std::size_t threads(rank_id rank) const {
    return static_cast<std::size_t>(ranks_[rank].threads);
  }
  [[nodiscard]] bool computes(rank_id rank) const { return ranks_[rank].alive && ranks_[rank].computes; }
  [[nodiscard]] bool any_computes() const { return computing_ > 0; }
  /// Number of living ranks that compute.
  [[nodiscard]] std::size_t computing() const { return static_cast<std::size_t>(computing_); }
  [[nodiscard]] bool said_hello(rank_id rank) const { return ranks_[rank].hello; }
  [[nodiscard]] bool alive(rank_id rank) const { return ranks_[rank].alive; }
  /// True if the rank no longer asks for tasks, or never did.
  [[nodiscard]] bool closed(rank_id rank) const { return ranks_[rank].closed; }
  /// The ranks that may run a task alone, waiting ones first. The root is among them only if no other rank
  /// computes, since no rank can replace it.
  [[nodiscard]] std::vector<rank_id> takers_alone() const;
  friend bool operator==(farm_dealer const&, farm_dealer const&) = default;
  void hash(digest& d) const;

 private:
  struct rank_state {
    bool alive = true;
    bool computes = false;
    bool hello = false;
    bool waiting = false;  // has asked and was not served yet
    bool closed = false;   // knows that nothing more will come, or never asks: new work is pushed
    int threads = 1;
    double power = 0;
    std::uint64_t wanted = 1;
    std::uint64_t held = 0;  // tasks given and not finished; after losses an estimate
    unsigned grants = 0;
    friend bool operator==(rank_state const&, rank_state const&) = default;
  };

  void count(rank_state const& r, int sign);
  void give(rank_id rank, std::uint64_t n, assignments& out);
  void serve_now(rank_id rank, bool last, assignments& out);
  [[nodiscard]] std::uint64_t most_for(rank_id rank) const;
  [[nodiscard]] std::uint64_t grant_for(rank_id rank);
  [[nodiscard]] bool keeps_for_root(rank_id rank) const;
  [[nodiscard]] std::uint64_t adaptive_grant(rank_id rank) const;
  [[nodiscard]] std::uint64_t of_average_cost(std::uint64_t n) const;
  [[nodiscard]] std::vector<range_list> shares_of(std::vector<rank_id> const& takers, range_list const& left,
                                                  std::uint64_t cut) const;

  farm_policy policy_;
  std::uint64_t first_grant_ = 0;
  rank_id root_ = 0;
  by_rank<rank_state> ranks_;
  int computing_ = 0;        // living ranks that compute, ...
  int threads_ = 0;          // ... and their threads
  std::set<rank_id> queue_;  // ranks that were not served at once, and some that no longer wait
  rank_loads loads_;
  task_pool pool_;
  task_costs costs_;
  std::uint64_t costly_ = 0;
  bool dealt_ = true;
  bool any_closed_ = false;
  std::uint64_t given_ = 0;
  bool held_back_ = false;
  bool stopped_ = false;
  std::optional<rank_id> last_lost_;
};

}  // namespace skel::role
