// Each rank's speed and waiting tasks, as far as the root of a farm knows.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "farm/role/message.hpp"
#include "farm/role/rank_speeds.hpp"
#include "protocol/by_rank.hpp"

namespace skel::role {

/// Speeds are in average tasks per second. A regular value.
class rank_loads {
 public:
  rank_loads() = default;
  explicit rank_loads(rank_id ranks) : ranks_(ranks), speeds_(ranks) {}

  // --- events
  /// `power`: of a thread, relative to other ranks; 0: unknown.
  void joins(rank_id rank, std::uint64_t threads, double power);
  void granted(rank_id rank, std::uint64_t tasks);
  /// The rank's own report replaces the assumptions.
  void told(rank_id rank, farm::load const& here);
  void lost(rank_id rank);
  /// A thief found no waiting tasks there.
  void found_empty(rank_id rank);
  /// The thief will take these tasks from the victim.
  void moves(rank_id victim, rank_id thief, std::uint64_t tasks);
  /// The rank asks for tasks of other ranks.
  void seeks(rank_id rank) { ranks_[rank].seeks = true; }
  /// There was nothing for a rank that seeks: it counts as idle.
  void waits_in_vain(rank_id rank);

  // --- decisions
  [[nodiscard]] std::uint64_t threads(rank_id rank) const { return ranks_[rank].threads; }
  [[nodiscard]] bool any_waiting() const { return all_waiting_ > 0; }
  /// The idle ranks, the one that has waited longest first.
  [[nodiscard]] std::vector<rank_id> const& idle() const { return idle_; }
  [[nodiscard]] std::uint64_t waiting(rank_id rank) const { return ranks_[rank].waiting; }
  [[nodiscard]] rank_speeds& speeds() { return speeds_; }
  [[nodiscard]] rank_speeds const& speeds() const { return speeds_; }
  /// The expected speed of the rank's threads together.
  [[nodiscard]] double speed(rank_id rank) const;
  /// Seconds in which all `computing` ranks do `tasks` more tasks and those that wait; 0: no speed is known.
  [[nodiscard]] double remaining(std::uint64_t tasks, std::size_t computing) const;
  /// The rank's part of the speed of all `computing` ranks; 0: unknown.
  [[nodiscard]] double share(rank_id rank, std::size_t computing) const;
  struct theft {
    rank_id victim = 0;
    std::uint64_t tasks = 0;
  };
  /// Returns the rank whose waiting tasks take longest, and how many of them the thief should take so that
  /// both finish at the same time. Empty: no theft pays.
  [[nodiscard]] std::optional<theft> theft_for(rank_id thief);
  friend bool operator==(rank_loads const&, rank_loads const&) = default;
  auto fields() const { return std::tie(ranks_, idle_, speeds_); }

 private:
  struct load {
    std::uint64_t threads = 1;
    std::uint64_t waiting = 0;
    double speed = 0;  // when the rank last reported; 0: unknown
    bool seeks = false;
    bool idle = false;
  };
  // Ranks with waiting tasks, those with the longest time first: minus that time, and the rank.
  using victims = std::set<std::pair<double, rank_id>>;
  [[nodiscard]] double all_speeds(std::size_t computing) const;
  [[nodiscard]] std::pair<double, rank_id> key_of(rank_id rank) const;
  void enter(rank_id rank);
  void leave(rank_id rank);
  [[nodiscard]] std::optional<rank_id> longest_but(rank_id thief);
  void set_waiting(rank_id rank, std::uint64_t tasks);
  void set_speed(rank_id rank, double speed);
  void set_busy(rank_id rank);

  by_rank<load> ranks_;
  std::vector<rank_id> idle_;
  std::uint64_t all_waiting_ = 0;
  double known_speed_ = 0;  // sum of the known speeds
  std::size_t known_ = 0;
  rank_speeds speeds_;
  bool sorted_ = false;  // since the first theft
  victims known_victims_;
  victims unknown_victims_;  // of unknown speed: by number
};

}  // namespace skel::role
