// The ranks that a role considers lost.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "outcome.hpp"

namespace skel::role {

/// A loss ends when the rank is heard from again. Where the engine repeats losses before every tick, it also
/// ends on the first tick without a repetition. A regular value.
class membership {
 public:
  /// Returns false if the rank was lost already.
  bool lost(rank_id rank) {
    repeated_.insert(rank);
    return lost_.insert(rank).second;
  }
  /// The rank was killed from outside. May come before lost().
  void from_outside(rank_id rank) { outside_.insert(rank); }
  /// Returns true if the rank was lost.
  bool heard(rank_id rank) {
    repeated_.erase(rank);
    outside_.erase(rank);
    return lost_.erase(rank) > 0;
  }
  /// Ends the losses that were not repeated since the last tick. Returns their ranks.
  std::vector<rank_id> tick() {
    std::vector<rank_id> back;
    for (rank_id const r : lost_)
      if (!repeated_.contains(r)) back.push_back(r);
    for (rank_id const r : back) heard(r);
    repeated_.clear();
    return back;
  }

  [[nodiscard]] bool is_lost(rank_id rank) const { return lost_.contains(rank); }
  [[nodiscard]] std::set<rank_id> const& lost_ranks() const { return lost_; }
  [[nodiscard]] bool is_from_outside(rank_id rank) const { return outside_.contains(rank); }
  friend bool operator==(membership const&, membership const&) = default;
  auto fields() const { return std::tie(lost_, repeated_, outside_); }

 private:
  std::set<rank_id> lost_, outside_;
  std::set<rank_id> repeated_;  // since the last tick
};

}  // namespace skel::role
