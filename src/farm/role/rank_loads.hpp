// Each rank's speed and waiting tasks, as far as the root of a farm knows.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "farm/role/message.hpp"
#include "role/digest.hpp"

namespace skel::role {

/// Ranks are named by their index. Speeds are in tasks per second; a rank of unknown speed counts as an
/// average one. A regular value.
class rank_loads {
 public:
  rank_loads() = default;
  explicit rank_loads(std::size_t ranks) : ranks_(ranks) {}

  // --- events
  void has_threads(std::size_t index, std::uint64_t threads);
  void granted(std::size_t index, std::uint64_t tasks);
  /// The rank's own report replaces the assumptions.
  void told(std::size_t index, farm::load const& here);
  /// The results of so many of its tasks have come.
  void finished(std::size_t index, std::uint64_t tasks) { ranks_[index].finished += tasks; }
  void lost(std::size_t index);
  /// A thief found no waiting tasks there.
  void found_empty(std::size_t index);
  /// The thief will take these tasks from the victim.
  void moves(std::size_t victim, std::size_t thief, std::uint64_t tasks);
  /// The rank asks for tasks of other ranks.
  void seeks(std::size_t index) { ranks_[index].seeks = true; }
  /// There was nothing for a rank that seeks: it counts as idle.
  void waits_in_vain(std::size_t index);

  // --- decisions
  [[nodiscard]] std::uint64_t threads(std::size_t index) const { return ranks_[index].threads; }
  [[nodiscard]] bool any_waiting() const { return all_waiting_ > 0; }
  /// The idle ranks, the one that has waited longest first.
  [[nodiscard]] std::vector<std::size_t> const& idle() const { return idle_; }
  /// The rank's speed, or the mean of the known ones; 0: none is known.
  [[nodiscard]] double speed(std::size_t index) const;
  [[nodiscard]] double speed_of_thread(std::size_t index) const;
  /// Seconds in which all `computing` ranks do `tasks` more tasks and those that wait; 0: no speed is known.
  [[nodiscard]] double remaining(std::uint64_t tasks, std::size_t computing) const;
  /// As speed_of_thread, but less if the rank has finished only a few tasks, which may have been short.
  [[nodiscard]] double sure_speed_of_thread(std::size_t index) const;
  /// The rank's part of the speed of all `computing` ranks; 0: unknown.
  [[nodiscard]] double share(std::size_t index, std::size_t computing) const;
  struct theft {
    std::size_t victim = 0;
    std::uint64_t tasks = 0;
    friend bool operator==(theft const&, theft const&) = default;
  };
  /// Returns the rank whose waiting tasks take longest, and how many of them the thief should take so that
  /// both finish at the same time. Empty: no theft pays.
  [[nodiscard]] std::optional<theft> theft_for(std::size_t thief);
  friend bool operator==(rank_loads const&, rank_loads const&) = default;
  void hash(digest& d) const;

 private:
  struct rank {
    std::uint64_t threads = 1;
    std::uint64_t waiting = 0;
    double speed = 0;  // 0: unknown
    std::uint64_t finished = 0;
    bool seeks = false;
    bool idle = false;
    friend bool operator==(rank const&, rank const&) = default;
  };
  // Ranks with waiting tasks, those with the longest time first: minus that time, and the index.
  using victims = std::set<std::pair<double, std::size_t>>;
  void enter(std::size_t index);
  void leave(std::size_t index);
  [[nodiscard]] std::optional<std::size_t> longest_but(std::size_t thief);
  void set_waiting(std::size_t index, std::uint64_t tasks);
  void set_speed(std::size_t index, double speed);
  void set_busy(std::size_t index);

  std::vector<rank> ranks_;
  std::vector<std::size_t> idle_;
  std::uint64_t all_waiting_ = 0;
  double known_speed_ = 0;  // sum of the known speeds
  std::size_t known_ = 0;
  bool sorted_ = false;  // since the first theft
  victims known_victims_;
  victims unknown_victims_;  // of unknown speed: a task counts as a second
};

}  // namespace skel::role
