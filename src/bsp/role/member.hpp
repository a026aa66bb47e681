// One rank of a bulk synchronous parallel call: restores its state, computes supersteps, saves its part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/message.hpp"
#include "bsp/role/superstep_end.hpp"
#include "protocol/attendance.hpp"
#include "protocol/leave_request.hpp"

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

struct bsp_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;
  bool neighbours = false;  ///< the program names them
};

/// The epoch in which a member takes part.
struct bsp_epoch {
  std::uint64_t number = 0;
  std::uint64_t stamp = 0;  ///< of its generations
  std::vector<rank_id> members{};
  std::uint32_t place = 0;  ///< of this rank among the members, when it is one
  /// Empty: this rank is no member.
  [[nodiscard]] std::optional<std::uint32_t> place_of(rank_id rank) const;
};

/// Bundles of messages travel only between members that have messages for each other. A barrier
/// (superstep_end) tells each member how many bundles to expect, whether any member continues, and whether
/// the next superstep begins with a checkpoint, which only the root decides. After a loss the root
/// (bsp_root) begins a new epoch with the ranks that are left, from a state that all of them can read;
/// what belongs to an older epoch is ignored, so nothing has to be undone.
///
/// If the program names neighbours, only the first superstep of an epoch ends with the barrier. A later one
/// ends when all neighbours have sent their bundles, and one of them or this rank continues. Otherwise this
/// rank asks the root whether a distant rank continues. A rank that continues has no need to ask,
/// because it decides alone that there is another superstep.
///
/// A regular value; events append their actions to `out`. It relies on the wire contract.
class bsp_member {
 public:
  bsp_member() = default;
  explicit bsp_member(bsp_member_config config)
      : config_(config), attendance_(config.self, config.root), near_(config.neighbours) {}

  void begin(bsp_actions& out);
  void on(rank_id from, bsp_message const& m, bsp_actions& out);
  /// The state of the epoch is there; its next superstep is `step`. `neighbours`: their places, if the
  /// program names them.
  void restored(std::uint64_t epoch, std::uint64_t step, std::vector<int> const& neighbours,
                bsp_actions& out);
  void unreadable(std::uint64_t epoch, std::string text, bsp_actions& out);
  /// Superstep done. `more`: this rank goes on, or has sent something. `messages_for`: the places of the
  /// members for which it has messages, in ascending order.
  void computed(std::uint64_t epoch, bool more, std::vector<std::uint32_t> const& messages_for,
                bsp_actions& out);
  /// On the root: all save the state after the superstep that is being computed as this generation.
  void announce(std::uint64_t generation) { announced_ = generation; }
  /// On the root: the root has found that no member continues after this superstep.
  void no_more(std::uint64_t epoch, bsp_actions& out);
  /// The part of the latest `save` is durable, or cannot be.
  void saved(std::uint64_t generation, bool well, bsp_actions& out);
  /// A function of the user's threw.
  void failed(std::string text, bsp_actions& out) { attendance_.failed(step_, std::move(text), out); }
  void please_stop(bsp_actions& out) { attendance_.please_stop(out); }
  /// After drain: no job runs any more.
  void quiet(bsp_actions& out) { attendance_.quiet(out); }
  void lost(rank_id rank, bsp_actions& out) { attendance_.lost(rank, out); }
  /// This rank is to leave the job, or not after all.
  void retire(bool does, bsp_actions& out);
  /// Whether it may: the others go on without it from a checkpoint.
  [[nodiscard]] bool vacant() const { return attendance_.active() && leave_.granted(); }

  [[nodiscard]] bsp_epoch const& epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  friend bool operator==(bsp_member const&, bsp_member const&) = default;
  auto fields() const {
    return std::tie(attendance_, epoch_, step_, waits_, ends_, announced_, near_, writing_, complete_, hold_,
                    held_, passed_, leave_);
  }

 private:
  struct written {
    std::uint64_t epoch = 0, generation = 0;
  };
  void take(rank_id /*from*/, call_message const& m, bsp_actions& out) { attendance_.on(m, out); }
  void take(rank_id from, bsp::restart const& r, bsp_actions& out);
  void take(rank_id from, bsp::ask const& a, bsp_actions& out);
  void take(rank_id from, bsp::goes_on const& g, bsp_actions& out);
  void take(rank_id from, bsp::where const& w, bsp_actions& out);
  void take(rank_id from, bsp::save_before const& s, bsp_actions& out);
  void take(rank_id from, bsp::hold const& h, bsp_actions& out);
  void take(rank_id /*from*/, bsp::released const& r, bsp_actions& /*out*/) { leave_.grant(r.number); }
  /// Bundles and tallies.
  template <class Message>
    requires requires(superstep_end& e, Message const& m) { e.received(0, m); }
  void take(rank_id from, Message const& m, bsp_actions& out);
  /// If this rank has computed its superstep: sends the tallies that can be sent, and ends it when all is
  /// there.
  void maybe_next(bsp_actions& out);
  void end_with_barrier(superstep_end& end, bsp_actions& out);
  void end_with_neighbours(superstep_end const& end, bsp_actions& out);
  void begin_next(std::uint64_t generation, bsp_actions& out);
  [[nodiscard]] bool holds(bsp_actions& out) const;
  void complete(bsp_actions& out);
  void maybe_answer(bool more, bsp_actions& out);
  void check_senders(std::uint64_t epoch, std::uint64_t step, superstep_end const& end, bsp_actions& out);

  bsp_member_config config_;
  attendance attendance_;
  bsp_epoch epoch_;
  std::uint64_t step_ = 0;
  bool waits_ = false;   // has computed step_
  superstep_ends ends_;  // of step_ and later
  std::uint64_t announced_ = 0;
  neighbourhood near_;
  std::optional<written> writing_;  // the part that is being saved
  bool complete_ = false;           // on the root: it has the result
  std::uint64_t hold_ = 0;          // no superstep begins after this checkpoint; 0: none
  bool held_ = false;               // step_ waits for that
  std::uint64_t passed_ = 0;        // the latest checkpoint of this epoch with which a superstep began
  leave_request leave_;             // granted in this epoch
};
}  // namespace skel::role
