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
  std::size_t rank = 0;
  range_list tasks{};  ///< empty: no more tasks will come
  friend bool operator==(assignment const&, assignment const&) = default;
};
using assignments = std::vector<assignment>;

/// Decides by the farm's policy. Ranks are named by their index. A regular value; decisions are appended to
/// `out`.
class farm_dealer {
 public:
  farm_dealer() = default;
  /// `computes`: per rank. `first_grant`: see farm_ledger_config.
  farm_dealer(farm_policy policy, std::uint64_t first_grant, std::vector<bool> const& computes,
              std::size_t root, task_pool pool, task_costs costs = {}, std::uint64_t costly = 0);

  // --- the ranks
  /// The rank takes part. Returns false if it had said so before.
  bool hello(std::size_t index, std::uint64_t threads, double power);
  void lost(std::size_t index);
  void heard(std::size_t index);
  /// The rank is to compute nothing more.
  void dismiss(std::size_t index);
  /// The rank wants `n` tasks. Repeated requests change nothing.
  void asks(std::size_t index, std::uint64_t n);
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
  void serve(std::size_t index, bool last, assignments& out);
  void serve_all(bool last, assignments& out);
  /// Gives tasks that came back to ranks that no longer ask, an even part to each.
  void push(assignments& out);
  /// Counts a task that is given without a request.
  void count_given() { ++given_; }
  /// The rank has said how many tasks it holds.
  void holds(std::size_t index, std::uint64_t tasks) { ranks_[index].held = tasks; }
  /// This many tasks of the rank have ended.
  void finished(std::size_t index, std::uint64_t tasks);
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
  [[nodiscard]] std::size_t threads(std::size_t index) const {
    return static_cast<std::size_t>(ranks_[index].threads);
  }
  [[nodiscard]] bool computes(std::size_t index) const {
    return ranks_[index].alive && ranks_[index].computes;
  }
  [[nodiscard]] bool any_computes() const { return computing_ > 0; }
  /// Number of living ranks that compute.
  [[nodiscard]] std::size_t computing() const { return static_cast<std::size_t>(computing_); }
  [[nodiscard]] bool said_hello(std::size_t index) const { return ranks_[index].hello; }
  [[nodiscard]] bool alive(std::size_t index) const { return ranks_[index].alive; }
  /// True if the rank no longer asks for tasks, or never did.
  [[nodiscard]] bool closed(std::size_t index) const { return ranks_[index].closed; }
  /// The ranks that may run a suspect, waiting ones first. The root is among them only if no other rank
  /// computes, since no rank can replace it.
  [[nodiscard]] std::vector<std::size_t> takers_of_suspects() const;
  friend bool operator==(farm_dealer const&, farm_dealer const&) = default;
  void hash(digest& d) const;

 private:
  struct rank {
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
    friend bool operator==(rank const&, rank const&) = default;
  };

  void count(rank const& r, int sign);
  void give(std::size_t index, std::uint64_t n, assignments& out);
  void serve_now(std::size_t index, bool last, assignments& out);
  [[nodiscard]] std::uint64_t most_for(std::size_t index) const;
  [[nodiscard]] std::uint64_t grant_for(std::size_t index);
  [[nodiscard]] bool keeps_for_root(std::size_t index) const;
  [[nodiscard]] std::uint64_t adaptive_grant(std::size_t index) const;
  [[nodiscard]] std::uint64_t of_average_cost(std::uint64_t n) const;
  [[nodiscard]] std::vector<range_list> shares_of(std::vector<std::size_t> const& takers,
                                                  range_list const& left, std::uint64_t cut) const;

  farm_policy policy_;
  std::uint64_t first_grant_ = 0;
  std::size_t root_ = 0;
  std::vector<rank> ranks_;
  int computing_ = 0;            // living ranks that compute, ...
  int threads_ = 0;              // ... and their threads
  std::set<std::size_t> queue_;  // ranks that were not served at once, and some that no longer wait
  rank_loads loads_;
  task_pool pool_;
  task_costs costs_;
  std::uint64_t costly_ = 0;
  bool dealt_ = true;
  bool any_closed_ = false;
  std::uint64_t given_ = 0;
  bool held_back_ = false;
  bool stopped_ = false;
  std::optional<std::size_t> last_lost_;
};

}  // namespace skel::role
