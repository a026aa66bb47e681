// What the root of a farm knows of each rank's speed and of the tasks that wait there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "farm/role/message.hpp"
#include "role/digest.hpp"

namespace skel::role {

/// Ranks are named by their index. Speeds are in tasks per second; a rank that has not said how fast it is
/// counts as an average one. A regular value.
class rank_loads {
 public:
  rank_loads() = default;
  explicit rank_loads(std::size_t ranks) : ranks_(ranks) {}

  // --- what happens
  void has_threads(std::size_t index, std::uint64_t threads);
  void granted(std::size_t index, std::uint64_t tasks);
  /// The rank's own word replaces what was assumed.
  void told(std::size_t index, farm::load const& here);
  void lost(std::size_t index);
  /// A thief has found nothing there.
  void found_empty(std::size_t index);
  /// The thief is on its way.
  void moves(std::size_t victim, std::size_t thief, std::uint64_t tasks);
  /// The rank asks for tasks of other ranks, ...
  void seeks(std::size_t index) { ranks_[index].seeks = true; }
  /// ... and there were none for it.
  void waits_in_vain(std::size_t index);

  // --- what follows
  [[nodiscard]] bool any_waiting() const { return all_waiting_ > 0; }
  [[nodiscard]] std::uint64_t waiting(std::size_t index) const { return ranks_[index].waiting; }
  [[nodiscard]] bool is_idle(std::size_t index) const { return ranks_[index].idle; }
  /// The ranks that wait in vain, in the order in which they began to.
  [[nodiscard]] std::vector<std::size_t> const& idle() const { return idle_; }
  /// 0: no rank has said how fast it is.
  [[nodiscard]] double speed(std::size_t index) const;
  [[nodiscard]] double speed_of_thread(std::size_t index) const;
  /// The rank's part of the speed of all `computing` ranks; 0: not known.
  [[nodiscard]] double share(std::size_t index, std::size_t computing) const;
  struct theft {
    std::size_t victim = 0;
    std::uint64_t tasks = 0;
    friend bool operator==(theft const&, theft const&) = default;
  };
  /// The rank whose waiting tasks take it longest, and how many of them the thief takes so that both are done
  /// at the same time. Empty: none is worth while.
  [[nodiscard]] std::optional<theft> theft_for(std::size_t thief) const;
  friend bool operator==(rank_loads const&, rank_loads const&) = default;
  void hash(digest& d) const;

 private:
  struct rank {
    std::uint64_t threads = 1;
    std::uint64_t waiting = 0;
    double speed = 0;  // 0: not known
    bool seeks = false;
    bool idle = false;
    friend bool operator==(rank const&, rank const&) = default;
  };
  void set_waiting(std::size_t index, std::uint64_t tasks);
  void set_speed(std::size_t index, double speed);
  void set_busy(std::size_t index);

  std::vector<rank> ranks_;
  std::vector<std::size_t> idle_;
  std::uint64_t all_waiting_ = 0;
  double known_speed_ = 0;  // of all ranks that have said theirs
  std::size_t known_ = 0;
};

}  // namespace skel::role
