// The checkpoint in progress of a bsp call, as the root sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/outcome.hpp"

namespace skel::role {

/// A checkpoint that can be restored, as far as is known.
struct bsp_generation {
  std::uint64_t number = 0;
  std::uint32_t parts = 0;
  std::optional<std::uint64_t> step{};  ///< the first superstep after it; empty: not known yet
  std::uint64_t stamp = 0;              ///< of the run that has saved it: two may have saved the same number
};

/// There is one checkpoint at a time: first its members save their parts, then it is committed. Numbers of
/// generations are never reused.
///
/// A regular value.
class checkpoint_book {
 public:
  /// No generation in the store has a larger number than `newest`.
  explicit checkpoint_book(std::uint64_t newest = 0) : newest_(newest) {}

  [[nodiscard]] bool idle() const { return saving_ == 0 && committing_.number == 0; }
  /// The generation being saved, and the one being committed; 0: none.
  [[nodiscard]] std::uint64_t saving() const { return saving_; }
  [[nodiscard]] std::uint64_t committing() const { return committing_.number; }

  /// Begins a checkpoint of the state before superstep `step`. `last`: the call ends after it.
  void begin(std::uint64_t step, bool last) {
    saving_ = ++newest_;
    if (last) last_ = saving_;
    step_ = step;
    saved_.clear();
  }
  /// An epoch begins, or a member could not save its part: nothing is being saved.
  void abandon() {
    saving_ = 0;
    held_.clear();
  }
  /// A member waits to hear which superstep begins with the checkpoint; `next` is the first that it has not
  /// begun. Returns that superstep when all of them wait.
  [[nodiscard]] std::optional<std::uint64_t> reached(rank_id from, std::uint64_t next, std::size_t members) {
    held_[from] = next;
    if (held_.size() < members) return {};
    std::uint64_t step = 0;
    for (auto const& [rank, of] : std::exchange(held_, {})) step = std::max(step, of);
    step_ = step;
    return step;
  }
  /// A member has saved its part. Returns the generation to commit when all have.
  [[nodiscard]] std::optional<bsp_generation> saved(rank_id from, std::vector<rank_id> const& members) {
    saved_.insert(from);
    if (!std::all_of(members.begin(), members.end(), [&](rank_id r) { return saved_.contains(r); }))
      return {};
    committing_ = {std::exchange(saving_, 0), static_cast<std::uint32_t>(members.size()), step_};
    return committing_;
  }
  [[nodiscard]] bsp_generation committed() { return std::exchange(committing_, {}); }
  /// Whether the call ends after this generation, committed or not.
  [[nodiscard]] bool is_last(std::uint64_t generation) const { return generation == last_; }
  friend bool operator==(checkpoint_book const&, checkpoint_book const&) = default;
  auto fields() const { return std::tie(newest_, saving_, saved_, committing_, held_, last_); }

 private:
  std::uint64_t newest_, saving_ = 0;
  std::optional<std::uint64_t> step_;  // the first superstep after `saving_`
  std::set<rank_id> saved_;
  bsp_generation committing_;
  std::map<rank_id, std::uint64_t> held_;  // the next superstep of the members that wait
  std::uint64_t last_ = 0;                 // 0: none yet
};

}  // namespace skel::role
