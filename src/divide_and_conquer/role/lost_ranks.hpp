// The ranks that a role takes for lost.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "role/digest.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// The engine repeats a loss before every tick for as long as it lasts. A regular value.
class lost_ranks {
 public:
  void add(rank_id rank) {
    lost_.insert(rank);
    repeated_.insert(rank);
  }
  void heard(rank_id rank) { lost_.erase(rank); }
  /// Losses that have not been repeated since the last tick are over.
  void tick() { lost_ = std::exchange(repeated_, {}); }

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
