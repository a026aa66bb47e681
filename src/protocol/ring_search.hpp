// Selects the rank that an idle rank asks for work: phase 2 of GDC.
#pragma once

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "membership.hpp"
#include "outcome.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// One rank's search for work along the ring ([Lee97, §3], phase 2, cases 1 to 3). A
/// regular value. next() returns the rank to ask; the answer is passed to works(), idle() or
/// shortcut(). A search visits every rank at most once and ends where it began.
class ring_search {
 public:
  ring_search() = default;
  /// The ring: the ranks `first` ... `ranks` - 1, which include `self`.
  ring_search(rank_id self, rank_id first, rank_id ranks, schedule::ring_order order)
      : self_(self), first_(first), ranks_(ranks), order_(order) {}

  /// Starts a new search: no rank is visited.
  void begin();
  /// Returns the rank to ask now and marks it visited; empty at the end of the search.
  [[nodiscard]] std::optional<rank_id> next();
  /// Case 1: the rank is busy and has given a task. It is remembered and asked first next time.
  void works(rank_id rank) { busy_ = rank; }
  /// Case 2: the rank is idle and knows no busy rank. The search continues with the next unvisited
  /// rank.
  void idle(rank_id rank);
  /// Case 3: the rank is idle but has found `busy`, which is asked next. The ranks in between are
  /// skipped.
  void shortcut(rank_id rank, rank_id busy);
  /// A rank where work was found recently, for a rank that asks this one (the other side of case
  /// 3).
  [[nodiscard]] std::optional<rank_id> knows_busy() const { return busy_; }

  void lost(rank_id rank);
  void heard(rank_id rank) { lost_.heard(rank); }
  [[nodiscard]] std::set<rank_id> const& lost_ranks() const { return lost_.lost_ranks(); }
  friend bool operator==(ring_search const&, ring_search const&) = default;
  auto fields() const { return std::tie(step_, visited_, lost_, busy_, hint_); }

 private:
  [[nodiscard]] bool may_ask(std::optional<rank_id> rank) const;

  rank_id self_ = 0;
  rank_id first_ = 0;
  rank_id ranks_ = 0;
  schedule::ring_order order_ = schedule::ring_order::successors;
  int step_ = 0;               // position of this search along the order
  std::vector<bool> visited_;  // in this search; empty before the first
  membership lost_;
  std::optional<rank_id> busy_;
  std::optional<rank_id> hint_;
};

}  // namespace skel::role
