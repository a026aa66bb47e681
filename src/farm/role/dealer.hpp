// Decides which rank of a farm gets which tasks.
#pragma once

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "farm/role/compute_ranks.hpp"
#include "farm/role/grant_sizes.hpp"
#include "farm/role/rank_loads.hpp"
#include "farm/role/root_config.hpp"
#include "farm/role/task_pool.hpp"

namespace skel::role {

/// A decision: these tasks go to this rank.
struct assignment {
  rank_id rank = 0;
  range_list tasks{};  ///< empty: no more tasks will come
};
using assignments = std::vector<assignment>;

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
  /// The rank wants `n` tasks. Repeated requests change nothing.
  void asks(rank_id rank, std::uint64_t n);
  /// While `on`, other ranks get nothing more, and the root runs the remaining tasks itself.
  void hold_back(bool on) { held_back_ = on; }
  /// While `on`, a root that computes gets nothing more, because the others end earlier without it.
  void rest_root(bool on) { root_rests_ = on; }
  /// Lets a root that only serves compute if no other rank is left.
  void enlist_root(assignments& out);

  // --- tasks
  /// True if all living workers have said hello and deal() has not been called yet.
  [[nodiscard]] bool may_deal() const;
  /// Deals the tasks `left` to the ranks; those that the policy does not deal go to the pool.
  void deal(range_list const& left, assignments& out);
  /// Number of tasks that waiting ranks have asked for.
  [[nodiscard]] std::uint64_t wanted() const;
  /// Answers a request if possible. `last`: no more tasks will come into the pool.
  void serve(rank_id rank, bool last, assignments& out);
  void serve_all(bool last, assignments& out);
  /// Gives tasks that came back to ranks that no longer ask, an even part to each.
  void push(assignments& out);
  /// Counts a task that is given without a request.
  void count_given() { ++given_; }
  /// The rank has said how many tasks it holds.
  void holds(rank_id rank, std::uint64_t tasks) { requests_[rank].held = tasks; }
  /// This many tasks of the rank have ended.
  void finished(rank_id rank, std::uint64_t tasks);
  /// From now on nothing is given.
  void stop();

  [[nodiscard]] task_pool& pool() { return pool_; }
  [[nodiscard]] task_pool const& pool() const { return pool_; }
  [[nodiscard]] rank_loads& loads() { return loads_; }
  [[nodiscard]] compute_ranks const& ranks() const { return ranks_; }
  [[nodiscard]] task_costs const& costs() const { return sizes_.costs(); }
  [[nodiscard]] bool dealt() const { return dealt_; }
  [[nodiscard]] bool holds_back() const { return held_back_; }
  /// Number of tasks given; a task that is given twice counts twice.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  /// True if the rank no longer asks for tasks, or never did.
  [[nodiscard]] bool closed(rank_id rank) const { return requests_[rank].closed; }
  /// The ranks that may run a task alone, waiting ones first. The root is among them only if no other rank
  /// computes, since no rank can replace it.
  [[nodiscard]] std::vector<rank_id> takers_alone() const;
  friend bool operator==(farm_dealer const&, farm_dealer const&) = default;
  auto fields() const {
    return std::tie(pool_, loads_, ranks_, sizes_, dealt_, given_, held_back_, root_rests_, stopped_,
                    last_lost_, requests_);
  }

 private:
  struct request {
    bool waiting = false;  // has asked and was not served yet
    bool closed = false;   // knows that nothing more will come, or never asks: new work is pushed
    std::uint64_t wanted = 1;
    std::uint64_t held = 0;  // tasks given and not finished; after losses an estimate
  };

  void close(rank_id rank) { requests_[rank].closed = any_closed_ = true; }
  void give(rank_id rank, std::uint64_t n, assignments& out);
  [[nodiscard]] bool must_wait(rank_id rank) const;

  rank_id root_ = 0;
  schedule::takeover after_loss_{};
  compute_ranks ranks_;
  by_rank<request> requests_;
  std::set<rank_id> queue_;  // ranks that were not served at once, and some that no longer wait
  rank_loads loads_;
  task_pool pool_;
  grant_sizes sizes_;
  bool dealt_ = true;
  bool any_closed_ = false;
  std::uint64_t given_ = 0;
  bool held_back_ = false;
  bool root_rests_ = false;
  bool stopped_ = false;
  std::optional<rank_id> last_lost_;
};

}  // namespace skel::role
