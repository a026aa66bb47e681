// Selects the rank that an idle rank asks for work.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "protocol/ring_search.hpp"
#include "ring_steal/role/action.hpp"

namespace skel::role {

/// Walks the ring in the order of ring_search, with at most one outstanding request. After a full
/// round, or `arc` refusals, it waits for rested(): with thousands of idle ranks, repeated full
/// rounds would flood the network. A regular value.
class thief {
 public:
  static constexpr unsigned arc = 16;

  thief() = default;
  /// All work begins on the root, so the root is asked first.
  thief(rank_id self, rank_id root, rank_id ranks, schedule::ring_order order)
      : search_(self, 0, ranks, order) {
    search_.works(root);
  }

  /// `bound` travels with the request.
  void ask_next(bound_key bound, steal_actions& out);
  void rested() { asks_ = 0; }
  /// The victim is idle, and may know a rank that is busy (cases 2 and 3).
  void on(rank_id from, steal::nothing const& m);
  /// The victim is busy and gave tasks (case 1).
  void succeeded(rank_id from);
  /// Stops waiting for an answer.
  void forget() { asked_.reset(); }
  void lost(rank_id rank);
  void heard(rank_id rank) { search_.heard(rank); }
  /// Records that rank `busy` has tasks.
  void knows(rank_id busy) { search_.works(busy); }

  [[nodiscard]] std::optional<rank_id> knows_busy() const { return search_.knows_busy(); }
  [[nodiscard]] std::set<rank_id> const& lost_ranks() const { return search_.lost_ranks(); }
  [[nodiscard]] std::optional<rank_id> asked() const { return asked_; }
  /// How often a rank gave tasks.
  [[nodiscard]] std::uint64_t steals() const { return steals_; }
  friend bool operator==(thief const&, thief const&) = default;
  auto fields() const { return std::tie(search_, asks_, came_round_, asked_); }

 private:
  ring_search search_;
  unsigned asks_ = 0;  // refusals since the last rest
  bool came_round_ = true;
  std::optional<rank_id> asked_;  // the rank whose answer is awaited
  std::uint64_t steals_ = 0;
};

}  // namespace skel::role
