// The root's part of a bulk synchronous parallel call: starts epochs, and manages checkpoints from
// announcement to commit.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/checkpoint_book.hpp"
#include "bsp/role/idle_members.hpp"
#include "bsp/role/leavers.hpp"
#include "bsp/role/message.hpp"
#include "bsp/role/superstep_watch.hpp"

namespace skel::role {

struct bsp_root_config {
  rank_id self = 0;
  rank_id ranks = 0;
  bool splits = false;                   ///< the program can split its state for another number of ranks
  bool neighbours = false;               ///< the program names neighbours
  std::uint64_t stamp = 0;               ///< of the generations of this run
  std::uint64_t newest = 0;              ///< no generation in the store has a larger number
  std::vector<bsp_generation> usable{};  ///< generations to resume from, in order of preference
  unsigned max_losses = 3;               ///< losses in the same superstep before it is blamed; 0: never
  bool saves = false;                    ///< there is a store for checkpoints
  bool begins_anew = false;              ///< if none of these can be read
};

/// - A new epoch begins with all living ranks from the newest generation that can be restored: at
///   the start of the run, when a member is lost, and when a member cannot read its part.
/// - After a loss, the root waits a few ticks for a commit in progress, because its generation
///   saves work.
/// - A state that cannot be split is only restored on the same number of ranks. Otherwise the run
///   ends (part_lost).
/// - The root announces a checkpoint with a superstep, and commits it when every member of the epoch has
///   saved its part (checkpoint_book).
/// - If a rank asks for an early end and there is a store, the ranks first save the state before a superstep
///   that none has begun, and go on until it is committed.
/// - If a rank is to leave, likewise, but no member begins that superstep before the rank is gone. The next
///   epoch begins with it (leavers).
/// - If the program names neighbours, members may be several supersteps apart. The root therefore asks
///   all for their progress before it counts a loss, and before it says which superstep begins with a
///   checkpoint: one that no member has begun. It also finds out whether any member continues (idle_members).
/// - While a superstep is to blame for losses (superstep_watch), no epoch begins.
/// - A rank that was wrongly suspected stays out: it has no state that the others need.
///
/// A regular value; events append their actions to `out`. It has no clock: time advances by ticks.
class bsp_root {
 public:
  bsp_root() = default;
  explicit bsp_root(bsp_root_config config);

  void begin(bsp_actions& out) { restart(out); }
  /// Returns whether the message was for the root alone.
  bool on(rank_id from, bsp_message const& m, bsp_actions& out);
  /// The root itself has finished this superstep.
  void computed(bsp::bundle const& b, bsp_actions& out) { take(config_.self, b, out); }
  /// The root's member begins superstep `step`. `due`: the checkpoint interval is over.
  void begins(std::uint64_t epoch, std::uint64_t step, bool due, bsp_actions& out);
  /// A rank asks for an early end of the call.
  void please_stop(bsp_actions& out);
  void committed(std::uint64_t generation, bool well, bsp_actions& out);
  /// May be called repeatedly for the same lost rank.
  void lost(rank_id rank, bsp_actions& out);
  void from_outside(rank_id rank) { watch_.from_outside(rank); }
  void tick(bsp_actions& out);
  /// The call ends: nothing new begins.
  void stop() { stopped_ = true; }

  [[nodiscard]] std::uint64_t epoch() const { return now_.epoch; }
  [[nodiscard]] checkpoint_book const& checkpoint() const { return checkpoint_; }
  friend bool operator==(bsp_root const&, bsp_root const&) = default;
  auto fields() const {
    return std::tie(living_, now_, usable_, watch_, begun_, moved_, checkpoint_, idle_, lost_, waited_,
                    ticks_, stopped_, wants_stop_, leavers_);
  }

 private:
  void take(rank_id from, bsp::joined const& j, bsp_actions& out);
  void take(rank_id from, bsp::bundle const& b, bsp_actions& out);
  void take(rank_id from, bsp::tally const& t, bsp_actions& out);
  void take(rank_id from, bsp::idle const& i, bsp_actions& out);
  void take(rank_id from, bsp::goes_on const& g, bsp_actions& out);
  void take(rank_id from, bsp::reached const& r, bsp_actions& out);
  void take(rank_id from, bsp::saved const& s, bsp_actions& out);
  void take(rank_id from, bsp::unreadable const& u, bsp_actions& out);
  void take(rank_id from, bsp::retires const& r, bsp_actions& out);
  void take(rank_id /*from*/, bsp::holds const& h, bsp_actions& /*out*/) {
    if (h.epoch == now_.epoch) leavers_.wait();
  }
  void go_on(bsp_actions& out);
  void restart(bsp_actions& out);
  void go_on_without_lost(bsp_actions& out);
  void maybe_stop_after(std::uint64_t generation, bsp_actions& out);
  void blame(superstep_watch::verdict const& v, bsp_actions& out);
  [[nodiscard]] std::uint64_t newest_usable() const { return usable_.empty() ? 0 : usable_.front().number; }
  [[nodiscard]] bool fits(bsp_generation const& g) const {
    return config_.splits || g.parts == living_.size();
  }

  bsp_root_config config_;
  std::vector<rank_id> living_;
  bsp::restart now_;                    // begins the epoch
  std::vector<bsp_generation> usable_;  // in the order of preference
  superstep_watch watch_;
  bool begun_ = false;  // the root has begun a superstep of this epoch
  bool moved_ = false;  // all members have computed a superstep
  checkpoint_book checkpoint_;
  idle_members idle_;
  std::optional<rank_id> lost_;  // a lost member; the epoch without it has not begun
  unsigned waited_ = 0;          // ticks spent waiting for a commit
  unsigned ticks_ = 0;           // since the start of the epoch
  bool stopped_ = false;
  bool wants_stop_ = false;  // a rank has asked for an early end
  leavers leavers_;
};

}  // namespace skel::role
