// Selects the rank that an idle rank asks for work, and keeps those that ask this one.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/ring_search.hpp"
#include "ring_steal/role/borrower.hpp"
#include "ring_steal/role/message.hpp"

namespace skel::role {

/// Walks the ring in the order of ring_search, with at most one outstanding request. After a full
/// round, or `arc` refusals, it waits for rested(): with thousands of idle ranks, repeated full
/// rounds would flood the network.
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
  auto fields() const { return std::tie(search_, asks_, came_round_, asked_); }

 private:
  ring_search search_;
  unsigned asks_ = 0;  // refusals since the last rest
  bool came_round_ = true;
  std::optional<rank_id> asked_;  // the rank whose answer is awaited
  std::uint64_t steals_ = 0;
};

/// A busy victim keeps a thief waiting until it has tasks to give.
class waiting_thieves {
 public:
  waiting_thieves() = default;
  explicit waiting_thieves(rank_id root) : root_(root) {}

  void add(rank_id thief) {
    if (std::find(all_.begin(), all_.end(), thief) == all_.end()) all_.push_back(thief);
  }
  /// Returns whether it waited.
  bool remove(rank_id thief) { return std::erase(all_, thief) > 0; }
  void clear() { all_.clear(); }
  /// Removes the thief that has waited longest and may have tasks of this debt.
  [[nodiscard]] std::optional<rank_id> take(steal_debt const& d) {
    auto const at = std::find_if(all_.begin(), all_.end(), [&](rank_id r) { return may_have(r, d); });
    if (at == all_.end()) return std::nullopt;
    rank_id const thief = *at;
    all_.erase(at);
    return thief;
  }
  /// Removes the thieves that `serve` gives something.
  template <class Serve>
  void remove_if(Serve const& serve) {
    std::erase_if(all_, serve);
  }
  /// Half of them move on to `busy`, which has just got tasks: work reaches n ranks in log n steps.
  void send_half(rank_id busy, steal_actions& out) {
    for (auto n = all_.size() / 2; n > 0; --n) {
      refuse(all_.back(), busy, out);
      all_.pop_back();
    }
  }
  void refuse_all(std::optional<rank_id> busy, steal_actions& out) {
    for (rank_id const thief : std::exchange(all_, {})) refuse(thief, busy, out);
  }
  /// `busy`: a rank that may have tasks.
  static void refuse(rank_id thief, std::optional<rank_id> busy, steal_actions& out) {
    out.push_back(steal::send{thief, steal::nothing{busy == thief ? std::nullopt : busy}});
  }

  /// Whether one of them may have tasks of this debt.
  [[nodiscard]] bool may_have(steal_debt const& d) const {
    return std::any_of(all_.begin(), all_.end(), [&](rank_id r) { return may_have(r, d); });
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  auto fields() const { return std::tie(all_); }

 private:
  [[nodiscard]] bool may_have(rank_id thief, steal_debt const& d) const {
    return !d.alone && !(d.suspect && thief == root_);
  }

  rank_id root_ = 0;
  std::deque<rank_id> all_;
};

}  // namespace skel::role
