// The supersteps of a member that end with its neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bsp/role/message.hpp"
#include "bsp/role/superstep_end.hpp"

namespace skel::role {

/// If the program names neighbours, members may be several supersteps apart. This rank then also knows
/// - up to which superstep a distant member continues, as the root says;
/// - whether the root waits to hear that a member continues;
/// - which superstep begins with a checkpoint.
///
/// A regular value.
class neighbourhood {
 public:
  explicit neighbourhood(bool named = false) : named_(named) {}

  void begin_epoch() { *this = neighbourhood(named_); }
  /// The first superstep of the epoch ends with the barrier, all later ones with these ranks.
  void restored(std::uint64_t first, std::vector<rank_id> ranks) {
    first_ = first;
    ranks_ = std::move(ranks);
    std::sort(ranks_.begin(), ranks_.end());
  }
  /// In ascending order.
  [[nodiscard]] std::vector<rank_id> const& ranks() const { return ranks_; }
  /// Empty: not restored yet.
  [[nodiscard]] std::optional<std::uint64_t> first() const { return first_; }
  [[nodiscard]] bool ends(std::uint64_t step) const { return named_ && first_ && step > *first_; }
  /// A rank that sent a bundle but is no neighbour.
  [[nodiscard]] std::optional<rank_id> stranger(superstep_end const& end) const {
    for (rank_id const r : end.came())
      if (!std::binary_search(ranks_.begin(), ranks_.end(), r)) return r;
    return {};
  }

  void on(bsp::goes_on const& g) { goes_on_until_ = std::max(goes_on_until_, g.until); }
  /// A distant member continues after this superstep.
  [[nodiscard]] bool distant_continues(std::uint64_t step) const { return step < goes_on_until_; }
  void on(bsp::ask const& a) { asked_ = a.step; }
  /// A member continues after each superstep before `until`. Returns whether the root waits to hear that.
  [[nodiscard]] bool answers(std::uint64_t until) {
    if (!asked_ || *asked_ >= until) return false;
    asked_.reset();
    return true;
  }
  /// Returns whether the root does not know yet that this rank is idle in its superstep.
  [[nodiscard]] bool becomes_idle() { return !std::exchange(told_idle_, true); }
  void next() { told_idle_ = false; }

  void on(bsp::where const& w) { held_ = held_ || w.generation != 0; }
  void on(bsp::save_before const& s) {
    held_ = false;
    save_before_ = s;
  }
  /// No superstep begins before the next save_before.
  [[nodiscard]] bool held() const { return held_; }
  /// The generation as which the state before `step` is saved; 0: none.
  [[nodiscard]] std::uint64_t save_before(std::uint64_t step) const {
    return save_before_.step == step ? save_before_.generation : 0;
  }
  friend bool operator==(neighbourhood const&, neighbourhood const&) = default;
  auto fields() const {
    return std::tie(ranks_, first_, told_idle_, held_, asked_, goes_on_until_, save_before_);
  }

 private:
  bool named_;
  std::vector<rank_id> ranks_;
  std::optional<std::uint64_t> first_;
  bool told_idle_ = false;
  bool held_ = false;
  std::optional<std::uint64_t> asked_;  // the root's question about this superstep is open
  std::uint64_t goes_on_until_ = 0;     // a member continues after each superstep before this one
  bsp::save_before save_before_;        // the latest
};

}  // namespace skel::role
