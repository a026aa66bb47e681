// Tracks the superstep of each member, and whether one superstep ends rank after rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "protocol/outcome.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

/// The root's book of losses. A loss counts against the oldest superstep that not all members have
/// finished, under three conditions: the lost rank has joined the epoch, so it did not die with an earlier
/// one; it has not finished that superstep; and no other loss of the epoch counts, because ranks of one host
/// die together. Once all members finish a superstep, the losses before it no longer count.
///
/// The next epoch may cut the state differently, so it is unknown whether the next rank lost computed the
/// same part. bsp_options therefore has a larger default than the other skeletons.
///
/// A regular value.
class superstep_watch {
 public:
  /// Empty: before the first superstep of a state whose superstep is not yet known.
  using superstep = std::optional<std::uint64_t>;
  using verdict = suspects<superstep>::verdict;

  explicit superstep_watch(unsigned max_losses = 3) : suspects_(max_losses) {}

  /// An epoch begins with superstep `first`.
  void begin(std::vector<rank_id> const& members, superstep first);
  void joined(rank_id rank) {
    if (auto const at = members_.find(rank); at != members_.end()) at->second.joined = true;
  }
  /// The root begins `step`, so all members have finished the supersteps before it.
  void begins(std::uint64_t step);
  void finished(rank_id rank, std::uint64_t step);
  /// Repeated on every tick while the rank is lost.
  void lost(rank_id rank);
  /// The same for a rank that may have been several supersteps ahead or behind: `living` say where they are
  /// before it counts. Returns whether they must be asked.
  [[nodiscard]] bool lost_somewhere(rank_id rank, std::vector<rank_id> const& living);
  /// This rank has said which supersteps are finished. Returns whether a loss waited for that.
  bool heard_from(rank_id rank);
  void from_outside(rank_id rank) { suspects_.from_outside(rank); }
  [[nodiscard]] std::optional<verdict> tick();

  [[nodiscard]] bool has_joined(rank_id rank) const {
    auto const at = members_.find(rank);
    return at != members_.end() && at->second.joined;
  }
  [[nodiscard]] superstep first() const { return first_; }
  /// Whether the superstep of the latest loss is to blame, unless lost ranks are heard again.
  [[nodiscard]] bool blames() const { return suspects_.blames(latest_); }
  /// Or may be, since a loss does not count yet.
  [[nodiscard]] bool may_blame() const { return !uncounted_.empty() || blames(); }
  friend bool operator==(superstep_watch const&, superstep_watch const&) = default;
  auto fields() const {
    return std::tie(members_, first_, counted_, latest_, suspects_, uncounted_, unheard_);
  }

 private:
  struct member {
    bool joined = false;
    superstep next{};  // empty: it has finished none in this epoch
  };
  [[nodiscard]] superstep oldest_unfinished() const;

  std::map<rank_id, member> members_;  // of this epoch, without those lost in it
  superstep first_;
  bool counted_ = false;  // a loss of this epoch
  superstep latest_;
  suspects<superstep> suspects_;
  std::vector<rank_id> uncounted_;  // lost ranks
  std::set<rank_id> unheard_;       // have not said where they are since the loss
};

}  // namespace skel::role
