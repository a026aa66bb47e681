// Work that was running on lost ranks: a task that ends its process must not end one rank after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "role/digest.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// Ticks for which the ranks must stay lost before work is blamed: most suspicions are taken back sooner.
inline constexpr unsigned blame_patience = 8;

/// The rule is the same in all skeletons. What a lost rank was running becomes suspect. The giver hands
/// suspects out one at a time, each to a rank that runs nothing else, and to the root only when no other rank
/// computes. A suspect is blamed once `most_losses` ranks were lost that ran it, and all but one of them held
/// it as a suspect: the first loss only raises the suspicion. A loss on a rank that also ran other work
/// counts less: it takes one more. Losses of ranks that are heard again do not count.
///
/// `Work` names a piece of work: ordered, copyable. A regular value.
template <class Work>
class suspects {
 public:
  /// `most_losses`: 0 blames nothing.
  explicit suspects(unsigned most_losses = 2) : most_losses_(most_losses) {}

  /// `rank` was lost while it ran `work`, with nothing else beside it (`alone`) or not. The work is to be
  /// given again.
  void add(Work const& work, rank_id rank, bool alone) {
    auto& s = all_[work];
    std::erase_if(s.losses, [&](loss const& l) { return l.rank == rank; });
    bool const watched = s.holder == rank;
    s.losses.push_back({rank, watched, watched && alone});
    s.holder.reset();
    lost_.insert(rank);
  }
  /// The work has a result, or is not needed any more. True: it was suspect.
  bool acquit(Work const& work) { return all_.erase(work) > 0; }
  /// A rank that was taken for lost is heard again.
  void heard(rank_id rank) { lost_.erase(rank); }
  /// The same for all suspects with a result. True: there were some.
  template <class Done>
  bool acquit_if(Done const& done) {
    return std::erase_if(all_, [&](auto const& s) { return done(s.first); }) > 0;
  }
  /// A rank is lost. What it ran, and what it held, is not known yet: add() and take_back() follow.
  void lost(rank_id rank) { lost_.insert(rank); }
  /// What `rank` held is to be given again.
  void take_back(rank_id rank) {
    lost_.insert(rank);
    for (auto& [work, s] : all_)
      if (s.holder == rank) s.holder.reset();
  }
  /// These suspects are to be given again, although their holders may live.
  template <class Missing>
  void take_back_if(Missing const& missing) {
    for (auto& [work, s] : all_)
      if (s.holder && missing(work)) s.holder.reset();
  }
  void given(Work const& work, rank_id to) { all_.at(work).holder = to; }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] bool contains(Work const& work) const { return all_.contains(work); }
  /// Whether this rank holds a suspect; it is given no other one meanwhile.
  [[nodiscard]] bool holds_one(rank_id rank) const {
    return std::any_of(all_.begin(), all_.end(), [&](auto const& s) { return s.second.holder == rank; });
  }
  /// The next one to give: no rank holds it, and it is not to blame.
  [[nodiscard]] std::optional<Work> next() const {
    for (auto const& [work, s] : all_)
      if (!s.holder && !to_blame(s)) return work;
    return std::nullopt;
  }
  /// All that no rank holds, also those to blame.
  [[nodiscard]] std::vector<Work> not_held() const {
    std::vector<Work> list;
    for (auto const& [work, s] : all_)
      if (!s.holder) list.push_back(work);
    return list;
  }
  [[nodiscard]] bool blames(Work const& work) const {
    auto const at = all_.find(work);
    return at != all_.end() && to_blame(at->second);
  }

  struct verdict {
    Work work{};
    std::vector<rank_id> ranks{};  ///< that ran it and are lost
    std::uint64_t more = 0;        ///< other work to blame
  };
  /// Work to blame, when there has been some for `blame_patience` ticks.
  [[nodiscard]] std::optional<verdict> tick() {
    auto const blame = [&](auto const& s) { return to_blame(s.second); };
    auto const guilty = std::find_if(all_.begin(), all_.end(), blame);
    if (guilty == all_.end()) {
      ticks_ = 0;
      return std::nullopt;
    }
    if (++ticks_ < blame_patience) return std::nullopt;
    verdict v{guilty->first, {}, static_cast<std::uint64_t>(std::count_if(guilty, all_.end(), blame)) - 1};
    for (auto const& l : guilty->second.losses)
      if (lost_.contains(l.rank)) v.ranks.push_back(l.rank);
    return v;
  }

  friend bool operator==(suspects const&, suspects const&) = default;
  /// `number` turns a Work into a number.
  template <class Number>
  void hash(digest& d, Number const& number) const {
    for (auto const& [work, s] : all_) {
      d.add(number(work)).add(static_cast<std::uint64_t>(s.holder.value_or(-1) + 1)).add(s.losses.size());
      for (auto const& l : s.losses)
        d.add(static_cast<std::uint64_t>(l.rank)).add((l.watched ? 1U : 0U) + (l.alone ? 2U : 0U));
    }
    for (rank_id const r : lost_) d.add(static_cast<std::uint64_t>(r));
    d.add(all_.size()).add(lost_.size()).add(ticks_);
  }

 private:
  struct loss {
    rank_id rank = 0;
    bool watched = false;  // it was a suspect already, and given to this rank as one
    bool alone = false;    // and nothing else was running there
    friend bool operator==(loss const&, loss const&) = default;
  };
  struct suspect {
    std::vector<loss> losses{};
    std::optional<rank_id> holder{};
    friend bool operator==(suspect const&, suspect const&) = default;
  };

  [[nodiscard]] bool to_blame(suspect const& s) const {
    if (most_losses_ == 0) return false;
    unsigned lost = 0, watched = 0, alone = 0;
    for (auto const& l : s.losses) {
      if (!lost_.contains(l.rank)) continue;
      lost += 1;
      watched += l.watched ? 1 : 0;
      alone += l.alone ? 1 : 0;
    }
    auto const enough = std::max(1U, most_losses_ - 1);
    return lost >= most_losses_ && watched >= enough && (alone >= enough || lost > enough + 1);
  }

  unsigned most_losses_ = 2;
  std::map<Work, suspect> all_;
  std::set<rank_id> lost_;
  unsigned ticks_ = 0;
};

}  // namespace skel::role
