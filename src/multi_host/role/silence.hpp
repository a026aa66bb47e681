// Detects lost ranks that are heard from again.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "role/digest.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// A role is notified of a loss on every tick while it lasts. A regular value.
class silence {
 public:
  void lost(rank_id rank) { now_.insert(rank); }
  /// Called on a tick: returns ranks that were lost before the last tick and no longer are.
  [[nodiscard]] std::vector<rank_id> heard_again() {
    std::vector<rank_id> heard;
    for (rank_id const r : before_)
      if (!now_.contains(r)) heard.push_back(r);
    before_ = std::exchange(now_, {});
    return heard;
  }
  friend bool operator==(silence const&, silence const&) = default;
  void hash(digest& d) const {
    for (auto const* ranks : {&now_, &before_}) {
      for (rank_id const r : *ranks) d.add(static_cast<std::uint64_t>(r));
      d.add(ranks->size());
    }
  }

 private:
  std::set<rank_id> now_, before_;  // lost since the last tick, and before it
};

}  // namespace skel::role
