// Tracks work that was running on lost ranks: a task that ends its process must not end rank after
// rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "membership.hpp"
#include "outcome.hpp"

namespace skel::role {

/// Ticks for which ranks must stay lost before work is blamed: most suspicions are withdrawn
/// sooner.
inline constexpr unsigned blame_patience = 8;

/// The same rule in all skeletons. The work of a lost rank becomes suspect. The giver hands out
/// suspects one at a time, each to a rank that runs nothing else, and to the root only if no other
/// rank computes. A suspect is blamed once `most_losses` ranks were lost while running it, all but
/// one of them holding it as a suspect: the first loss only raises the suspicion. A loss of a rank
/// that also ran other work counts less: one more loss is needed. A loss from outside counts half.
/// Losses of ranks that are heard from again do not count. An uncertain loss, of a rank that held the
/// work and perhaps did not run it, counts only if the work would run on the root next.
///
/// `Work` identifies a piece of work: ordered, copyable. A regular value.
template <class Work>
class suspects {
 public:
  /// `most_losses`: 0 never blames.
  explicit suspects(unsigned most_losses = 2) : most_losses_(most_losses) {}

  /// `rank` was lost while it ran `work`, with no other work (`alone`) or with some; if not
  /// `certain`, it may only have held it. The work must be given out again.
  void add(Work const& work, rank_id rank, bool alone, bool certain = true) {
    auto& s = all_[work];
    std::erase_if(s.losses, [&](loss const& l) { return l.rank == rank; });
    bool const watched = s.holder == rank;
    s.losses.push_back({rank, watched, watched && alone, certain});
    s.holder.reset();
    lost_.lost(rank);
  }
  /// Only a part of `work` is left, or it is one of its parts: which of them ran is not known.
  void divide(Work const& work, Work const& part) {
    auto const at = all_.find(work);
    if (at == all_.end()) return;
    auto s = at->second;
    for (auto& l : s.losses) l.certain = false;
    all_[part] = std::move(s);
  }
  /// Whether the root would run the work next: then uncertain losses count.
  void only_the_root_is_left(bool left) { counts_uncertain_ = left; }
  /// The work has a result, or is no longer needed. Returns whether it was suspect.
  bool acquit(Work const& work) { return all_.erase(work) > 0; }
  /// The same for all work that comes before `end`.
  bool acquit_before(Work const& end) {
    return std::erase_if(all_, [&](auto const& s) { return s.first < end; }) > 0;
  }
  /// A rank declared dead is heard from again.
  void heard(rank_id rank) { lost_.heard(rank); }
  /// Ends the losses that were not repeated since the last tick.
  void end_losses() { lost_.tick(); }
  /// The rank is lost, but was killed from outside.
  void from_outside(rank_id rank) { lost_.from_outside(rank); }
  /// The same for all suspects with a result. Returns whether there were any.
  template <class Done>
  bool acquit_if(Done const& done) {
    return std::erase_if(all_, [&](auto const& s) { return done(s.first); }) > 0;
  }
  /// A rank is lost. Its work is reported afterwards by add() and take_back().
  void lost(rank_id rank) { lost_.lost(rank); }
  /// The suspects held by `rank` must be given out again.
  void take_back(rank_id rank) {
    lost_.lost(rank);
    for (auto& [work, s] : all_)
      if (s.holder == rank) s.holder.reset();
  }
  /// These suspects must be given out again, although their holders may live.
  template <class Missing>
  void take_back_if(Missing const& missing) {
    for (auto& [work, s] : all_)
      if (s.holder && missing(work)) s.holder.reset();
  }
  void given(Work const& work, rank_id to) { all_.at(work).holder = to; }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] bool contains(Work const& work) const { return all_.contains(work); }
  /// Whether this rank holds `work` as a suspect.
  [[nodiscard]] bool holds(rank_id rank, Work const& work) const {
    auto const at = all_.find(work);
    return at != all_.end() && at->second.holder == rank;
  }
  /// Whether this rank holds a suspect. It gets no other one meanwhile.
  [[nodiscard]] bool holds_one(rank_id rank) const {
    return std::any_of(all_.begin(), all_.end(), [&](auto const& s) { return s.second.holder == rank; });
  }
  /// The next suspect to give out: no rank holds it, and it is not blamed.
  [[nodiscard]] std::optional<Work> next() const {
    return next([](Work const& /*any*/) { return true; });
  }
  /// The next one with this property.
  template <class Fits>
  [[nodiscard]] std::optional<Work> next(Fits const& fits) const {
    for (auto const& [work, s] : all_)
      if (!s.holder && !to_blame(s) && fits(work)) return work;
    return std::nullopt;
  }
  /// All suspects that no rank holds, including blamed ones.
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
    std::vector<rank_id> ranks{};  ///< the lost ranks that ran it
    std::uint64_t more = 0;        ///< number of other blamed suspects
  };
  /// Returns blamed work, once there has been some for `blame_patience` ticks. If several pieces are
  /// blamed, names the one that was most often running alone.
  [[nodiscard]] std::optional<verdict> tick() {
    auto guilty = all_.end();
    std::uint64_t blamed = 0;
    for (auto s = all_.begin(); s != all_.end(); ++s) {
      if (!to_blame(s->second)) continue;
      ++blamed;
      if (guilty == all_.end() || losses_alone(s->second) > losses_alone(guilty->second)) guilty = s;
    }
    if (guilty == all_.end()) {
      ticks_ = 0;
      return std::nullopt;
    }
    if (++ticks_ < blame_patience) return std::nullopt;
    verdict v{guilty->first, {}, blamed - 1};
    for (auto const& l : guilty->second.losses)
      if (counts(l)) v.ranks.push_back(l.rank);
    return v;
  }

  friend bool operator==(suspects const&, suspects const&) = default;
  auto fields() const { return std::tie(all_, lost_, ticks_, counts_uncertain_); }

 private:
  struct loss {
    rank_id rank = 0;
    bool watched = false;  // it was already suspect, and was given to this rank as such
    bool alone = false;    // with no other work running there
    bool certain = true;   // the rank ran it
  };
  struct suspect {
    std::vector<loss> losses{};
    std::optional<rank_id> holder{};
  };

  [[nodiscard]] bool counts(loss const& l) const {
    return lost_.is_lost(l.rank) && (l.certain || counts_uncertain_);
  }
  [[nodiscard]] auto losses_alone(suspect const& s) const {
    return std::count_if(s.losses.begin(), s.losses.end(),
                         [&](loss const& l) { return l.alone && counts(l); });
  }
  [[nodiscard]] bool to_blame(suspect const& s) const {
    if (most_losses_ == 0) return false;
    unsigned lost = 0, watched = 0, alone = 0;  // halves
    for (auto const& l : s.losses) {
      if (!counts(l)) continue;
      unsigned const halves = lost_.is_from_outside(l.rank) ? 1 : 2;
      lost += halves;
      watched += l.watched ? halves : 0;
      alone += l.alone ? halves : 0;
    }
    auto const enough = 2 * std::max(1U, most_losses_ - 1);
    return lost >= 2 * most_losses_ && watched >= enough && (alone >= enough || lost > enough + 2);
  }

  unsigned most_losses_ = 2;
  std::map<Work, suspect> all_;
  membership lost_;
  unsigned ticks_ = 0;
  bool counts_uncertain_ = false;
};

}  // namespace skel::role
