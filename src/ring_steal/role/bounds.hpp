// The best bound that a rank of a ring_steal call knows, and which ranks it has to pass it on to.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "ring_steal/role/message.hpp"

namespace skel::role {

/// A new bound reaches the other n - 1 ranks with n - 1 messages in about log2 n steps. The rank that found
/// it sends it to the middle of the ring, leaves the far half to that rank, and does the same with the near
/// half. A rank that already knows a better one passes on nothing: the better one travels to all ranks, too.
///
/// Bounds are hints. A rank that is lost keeps its part of the ring from hearing of one; requests,
/// loans, and a message to the next rank on a tick repair that.
class bounds {
 public:
  bounds() = default;
  bounds(rank_id self, rank_id ranks) : self_(self), ranks_(ranks) {}

  /// The tasks of this rank know this bound.
  void improve(bound_key bound) { hear(bound, others()); }
  /// Another rank has sent it, and leaves the next `reach` ranks to this one.
  void hear(bound_key bound, std::uint64_t reach = 0);
  /// Tells the next living rank again if the bound has improved since the last tick.
  void tick(std::set<rank_id> const& gone);
  [[nodiscard]] bool has_news() const { return reach_ > 0; }
  /// Sends the bound to the ranks it waits for, apart from the lost ones.
  void spread(std::set<rank_id> const& gone, steal_actions& out);

  [[nodiscard]] bound_key best() const { return best_; }
  auto fields() const { return std::tie(best_, at_tick_, reach_); }

 private:
  [[nodiscard]] std::uint64_t others() const { return static_cast<std::uint64_t>(ranks_ - 1); }
  [[nodiscard]] rank_id at(std::uint64_t distance) const;

  rank_id self_ = 0;
  rank_id ranks_ = 1;
  bound_key best_ = 0;
  bound_key at_tick_ = 0;    // the best one at the last tick
  std::uint64_t reach_ = 0;  // number of next ranks on the ring to pass the bound on to
};

}  // namespace skel::role
