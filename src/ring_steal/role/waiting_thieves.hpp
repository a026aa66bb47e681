// The ranks that wait for tasks of this one: the victim's side of ring_steal.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include "ring_steal/role/action.hpp"
#include "ring_steal/role/borrower.hpp"

namespace skel::role {

/// A busy victim keeps a thief waiting until it has tasks to give. A regular value.
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
  friend bool operator==(waiting_thieves const&, waiting_thieves const&) = default;
  auto fields() const { return std::tie(all_); }

 private:
  [[nodiscard]] bool may_have(rank_id thief, steal_debt const& d) const {
    return !d.alone && !(d.suspect && thief == root_);
  }

  rank_id root_ = 0;
  std::deque<rank_id> all_;
};

}  // namespace skel::role
