// The ranks that a role considers lost.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "role/digest.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// The engine repeats a loss before every tick while it lasts. A regular value.
class lost_ranks {
 public:
  void add(rank_id rank) {
    lost_.insert(rank);
    repeated_.insert(rank);
  }
  /// Returns true if the rank was considered lost.
  bool heard(rank_id rank) {
    repeated_.erase(rank);
    return lost_.erase(rank) > 0;
  }
  /// Ends the losses that were not repeated since the last tick. Returns their ranks.
  std::vector<rank_id> tick() {
    std::vector<rank_id> back;
    for (auto const r : lost_)
      if (!repeated_.contains(r)) back.push_back(r);
    lost_ = std::exchange(repeated_, {});
    return back;
  }

  [[nodiscard]] bool contains(rank_id rank) const { return lost_.contains(rank); }
  friend bool operator==(lost_ranks const&, lost_ranks const&) = default;
  void hash(digest& d) const {
    for (auto const* set : {&lost_, &repeated_}) {
      for (auto const r : *set) d.add(static_cast<std::uint64_t>(r));
      d.add(set->size());
    }
  }

 private:
  std::set<rank_id> lost_;
  std::set<rank_id> repeated_;  // since the last tick
};

}  // namespace skel::role
