// Whom a rank without work asks for some.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ring_steal/role/action.hpp"
#include "role/ring_search.hpp"

namespace skel::role {

/// Walks the ring as ring_search says, with one request under way at most. When it has come round, or asked
/// `arc` ranks in vain, it waits for rested(): with thousands of idle ranks whole rounds would be a storm. A
/// regular value.
class thief {
 public:
  static constexpr unsigned arc = 16;

  thief() = default;
  /// All work begins on the root, so it is asked first.
  thief(rank_id self, rank_id root, std::vector<rank_id> const& ranks, ring_order order)
      : search_(self, std::make_shared<std::vector<rank_id> const>(ranks), order) {
    search_.works(root);
  }

  void ask_next(steal_actions& out);
  void rested() { asks_ = 0; }
  /// The answer of the rank that was asked: `busy` may have tasks. False: it was not asked.
  [[nodiscard]] bool refused(rank_id from, std::optional<rank_id> busy);
  /// This rank gave tasks.
  void succeeded(rank_id from);
  /// Waits for no answer any more.
  void forget() { asked_.reset(); }
  void lost(rank_id rank);
  void heard(rank_id rank) { search_.alive(rank); }
  /// This rank has tasks.
  void knows(rank_id busy) { search_.works(busy); }

  [[nodiscard]] std::optional<rank_id> knows_busy() const { return search_.knows_busy(); }
  [[nodiscard]] std::optional<rank_id> asked() const { return asked_; }
  friend bool operator==(thief const&, thief const&) = default;
  void hash(digest& d) const;

 private:
  ring_search search_;
  unsigned asks_ = 0;  // without success, since it last rested
  bool came_round_ = true;
  std::optional<rank_id> asked_;  // an answer is due from
};

}  // namespace skel::role
