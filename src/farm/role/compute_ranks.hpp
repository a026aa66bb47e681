// The ranks of a farm: which live, and which compute with how many threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "protocol/by_rank.hpp"

namespace skel::role {

/// A regular value, part of farm_dealer.
class compute_ranks {
 public:
  compute_ranks() = default;
  /// `first_computing` and the ranks after it compute.
  compute_ranks(rank_id ranks, rank_id first_computing);

  /// The rank takes part. Returns false if it had said so before.
  bool hello(rank_id rank, std::uint64_t threads, double power);
  void lost(rank_id rank);
  void heard(rank_id rank);
  /// From now on the rank computes, or does not.
  void computes(rank_id rank, bool does);
  /// The rank takes nothing more, but may still run tasks, unless it is `vacant`; or it goes on. Returns
  /// whether it did not do so before.
  bool retires(rank_id rank, bool does, bool vacant);

  [[nodiscard]] rank_id ranks() const { return all_.ranks(); }
  [[nodiscard]] bool alive(rank_id rank) const { return all_[rank].alive; }
  [[nodiscard]] bool any_lost() const {
    return std::any_of(all_.begin(), all_.end(), [](state const& r) { return !r.alive; });
  }
  [[nodiscard]] bool said_hello(rank_id rank) const { return all_[rank].hello; }
  /// Whether the rank lives and may hold tasks.
  [[nodiscard]] bool may_hold(rank_id rank) const { return all_[rank].alive && all_[rank].computes; }
  [[nodiscard]] bool retires(rank_id rank) const { return all_[rank].retires; }
  [[nodiscard]] bool all_vacant() const {
    return std::all_of(all_.begin(), all_.end(),
                       [](state const& r) { return !r.alive || !r.computes || r.vacant; });
  }
  /// Whether it also takes more of them.
  [[nodiscard]] bool computes(rank_id rank) const { return may_hold(rank) && !all_[rank].retires; }
  [[nodiscard]] std::size_t threads(rank_id rank) const {
    return static_cast<std::size_t>(all_[rank].threads);
  }
  [[nodiscard]] double power(rank_id rank) const { return all_[rank].power; }
  /// Number of ranks that live and compute, and of their threads, as far as they have said hello.
  [[nodiscard]] std::size_t computing() const { return static_cast<std::size_t>(computing_); }
  [[nodiscard]] int all_threads() const { return threads_; }
  /// True if some rank computes, and all that do have said hello.
  [[nodiscard]] bool all_said_hello() const;
  friend bool operator==(compute_ranks const&, compute_ranks const&) = default;
  auto fields() const { return std::tie(all_); }

 private:
  struct state {
    bool alive = true;
    bool computes = false;
    bool retires = false;
    bool vacant = false;
    bool hello = false;
    int threads = 1;
    double power = 0;
  };
  template <class Change>
  void change(rank_id rank, Change const& how);

  by_rank<state> all_;
  int computing_ = 0;
  int threads_ = 0;
};

}  // namespace skel::role
