// The root's part of a bulk synchronous parallel call: starts epochs, and manages checkpoints from
// announcement to commit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/message.hpp"
#include "bsp/role/superstep_watch.hpp"

namespace skel::role {

/// A checkpoint that can be restored, as far as is known.
struct bsp_generation {
  std::uint64_t number = 0;
  std::uint32_t parts = 0;
  std::optional<std::uint64_t> step{};  ///< the first superstep after it; empty: not known yet
};

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
};

/// - A new epoch begins with all living ranks from the newest generation that can be restored: at
///   the start of the run, when a member is lost, and when a member cannot read its part.
/// - After a loss, the root waits a few ticks for a commit in progress, because its generation
///   saves work.
/// - A state that cannot be split is only restored on the same number of ranks. Otherwise the run
///   ends (part_lost).
/// - There is one checkpoint at a time. The root announces it with a superstep, and commits it when
///   every member of the epoch has saved its part. Generation numbers are never reused.
/// - If a rank asks for an early end and there is a store, the ranks first save the state before a superstep
///   that none has begun, and go on until it is committed.
/// - If the program names neighbours, members may be several supersteps apart. The root therefore asks
///   all for their progress before it counts a loss, and before it says which superstep begins with a
///   checkpoint: one that no member has begun. It also finds out whether any member continues, for members
///   whose neighbours do not.
/// - While a superstep is to blame for losses (superstep_watch), no epoch begins.
/// - A rank that was wrongly suspected stays out: it has no state that the others need.
///
/// A regular value; events append their actions to `out`. It has no clock: time advances by ticks.
class bsp_root {
 public:
  bsp_root() = default;
  explicit bsp_root(bsp_root_config config);

  void begin(bsp_actions& out) { restart(out); }
  void on(rank_id from, bsp::joined const& j);
  /// `from` has finished the superstep of the bundle. Also called for the root itself.
  void on(rank_id from, bsp::bundle const& b, bsp_actions& out);
  /// The members up to `from` have finished the superstep of the tally.
  void on(rank_id from, bsp::tally const& t);
  void on(rank_id from, bsp::idle const& i, bsp_actions& out);
  void on(bsp::goes_on const& g, bsp_actions& out);
  void on(rank_id from, bsp::reached const& r, bsp_actions& out);
  void on(rank_id from, bsp::saved const& s, bsp_actions& out);
  /// A generation that looked valid cannot be read: all ranks fall back to the one before.
  void on(bsp::unreadable const& u, bsp_actions& out);
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

  [[nodiscard]] bool is(rank_id rank) const { return rank == config_.self; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// The generation being saved, and the one being committed; 0: none.
  [[nodiscard]] std::uint64_t saving() const { return saving_; }
  [[nodiscard]] std::uint64_t committing() const { return committing_.number; }
  friend bool operator==(bsp_root const&, bsp_root const&) = default;
  auto fields() const {
    return std::tie(living_, members_, usable_, epoch_, generation_, watch_, begun_, moved_, newest_, saving_,
                    saved_, committing_, idle_, goes_on_until_, asked_, uncounted_, unheard_, held_, lost_,
                    waited_, ticks_, stopped_, wants_stop_, last_saving_);
  }

 private:
  void restart(bsp_actions& out);
  void tell_restart(rank_id to, bsp_actions& out) const;
  void go_on_without_lost(bsp_actions& out);
  void maybe_stop_after(std::uint64_t generation, bsp_actions& out);
  void ask_where(std::uint64_t generation, bsp_actions& out);
  void count_losses();
  void member_continues(std::uint64_t until, bsp_actions& out);
  void blame(superstep_watch::verdict const& v, bsp_actions& out);
  [[nodiscard]] std::uint64_t newest_usable() const { return usable_.empty() ? 0 : usable_.front().number; }
  [[nodiscard]] bool fits(bsp_generation const& g) const {
    return config_.splits || g.parts == living_.size();
  }

  bsp_root_config config_;
  std::vector<rank_id> living_, members_;
  std::vector<bsp_generation> usable_;  // in the order of preference
  std::uint64_t epoch_ = 0, generation_ = 0;
  superstep_watch watch_;
  bool begun_ = false;  // the root has begun a superstep of this epoch
  bool moved_ = false;  // all members have computed a superstep
  std::uint64_t newest_ = 0, saving_ = 0;
  std::optional<std::uint64_t> saving_step_;  // the first superstep after `saving_`
  std::set<rank_id> saved_;
  bsp_generation committing_;
  // Only if the program names neighbours:
  std::map<rank_id, std::uint64_t> idle_;  // members that wait after this superstep
  std::uint64_t goes_on_until_ = 0;        // a member continues after each superstep before this one
  std::optional<std::uint64_t> asked_;     // the latest superstep after which all were asked to continue
  std::vector<rank_id> uncounted_;         // lost ranks
  std::set<rank_id> unheard_;              // have not answered where they are since the loss
  std::map<rank_id, std::uint64_t> held_;  // the next superstep of those that wait for save_before
  std::optional<rank_id> lost_;            // a lost member; the epoch without it has not begun
  unsigned waited_ = 0;                    // ticks spent waiting for a commit
  unsigned ticks_ = 0;                     // since the start of the epoch
  bool stopped_ = false;
  bool wants_stop_ = false;        // a rank has asked for an early end
  std::uint64_t last_saving_ = 0;  // the checkpoint that was begun for it; 0: none yet
};

}  // namespace skel::role
