#include "ring_steal/role/bounds.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

// A bound that waits to be passed on is replaced by the better one, and reaches the ranks of both.
void bounds::hear(bound_key bound, std::uint64_t reach) {
  if (bound <= best_) return;
  best_ = bound;
  reach_ = std::max(reach_, std::min(reach, others()));
}

void bounds::tick(std::set<rank_id> const& gone) {
  if (std::exchange(at_tick_, best_) == best_) return;
  std::uint64_t distance = 1;
  while (distance <= others() && gone.contains(at(distance))) ++distance;
  if (distance <= others()) reach_ = std::max(reach_, distance);
}

rank_id bounds::at(std::uint64_t distance) const { return (self_ + static_cast<rank_id>(distance)) % ranks_; }

// The first living rank of the far half passes the bound on to the rest of that half.
void bounds::spread(std::set<rank_id> const& gone, steal_actions& out) {
  while (reach_ > 0) {
    auto const far = (reach_ + 1) / 2;
    auto distance = reach_ - far + 1;
    while (distance <= reach_ && gone.contains(at(distance))) ++distance;
    if (distance <= reach_) out.push_back(steal::send{at(distance), steal::better{best_, reach_ - distance}});
    reach_ -= far;
  }
}

}  // namespace skel::role
