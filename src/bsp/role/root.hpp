// The root's part of a bulk synchronous parallel call: starts epochs, and manages checkpoints from
// announcement to commit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/checkpoint_book.hpp"
#include "bsp/role/message.hpp"
#include "bsp/role/superstep_watch.hpp"
#include "protocol/leave_request.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// They leave one after the other, each after a checkpoint of its own: a store in the memory of the ranks
/// survives few losses at a time. The root is the last. Other ranks wait after the checkpoint, so that they
/// repeat no superstep, but not for a store that hangs.
///
/// A regular value.
class leavers {
 public:
  /// The rank is to leave, or stays after all. Returns whether the others need not wait.
  [[nodiscard]] bool asks(rank_id rank, std::uint64_t number) {
    if (is_to_leave(number)) return all_[rank] = number, false;
    all_.erase(rank);
    if (released_ != rank && any()) return false;
    generation_ = 0;
    return true;
  }
  void lost(rank_id rank) { all_.erase(rank); }
  [[nodiscard]] bool any() const { return !all_.empty(); }
  /// Whether one of them waits for a checkpoint. After one that failed, it waits for the next that is due.
  [[nodiscard]] bool want_checkpoint() const { return any() && !failed_; }
  /// A checkpoint begins, after which no superstep begins.
  void hold(std::uint64_t generation) {
    generation_ = generation;
    held_ = true;
    ticks_.reset();
  }
  /// The superstep has been reached.
  void wait() { ticks_ = 0; }
  /// The checkpoint is committed. Returns the rank that may leave now, and the number of its request.
  [[nodiscard]] std::optional<std::pair<rank_id, std::uint64_t>> committed(std::uint64_t generation) {
    if (!any() || generation != generation_) return {};
    released_ = all_.rbegin()->first;
    return *all_.rbegin();
  }
  /// It was not.
  void failed(std::uint64_t generation) { failed_ = failed_ || generation == generation_; }
  void begin_epoch() { *this = leavers(std::move(all_)); }
  /// Returns whether supersteps had to wait until now.
  [[nodiscard]] bool go_on() { return std::exchange(held_, false); }
  /// Returns whether they have waited for long enough.
  [[nodiscard]] bool tick() { return held_ && ticks_ && ++*ticks_ == patience; }
  leavers() = default;
  friend bool operator==(leavers const&, leavers const&) = default;
  auto fields() const { return std::tie(all_, generation_, released_, held_, failed_, ticks_); }

 private:
  static constexpr unsigned patience = 12;  // ticks
  using requests = std::map<rank_id, std::uint64_t>;
  explicit leavers(requests all) : all_(std::move(all)) {}

  requests all_;
  std::uint64_t generation_ = 0;  // of the latest checkpoint for one of them
  std::optional<rank_id> released_;
  bool held_ = false;
  bool failed_ = false;
  std::optional<unsigned> ticks_;
};

/// A member whose neighbours and itself do not continue asks the root whether a distant member does. The root
/// asks the members that do not wait, and answers as soon as it knows.
///
/// A regular value.
class idle_members {
 public:
  void begin_epoch() { *this = idle_members(); }
  /// A member continues after each superstep before `until`.
  void member_continues(std::uint64_t epoch, std::uint64_t until, bsp_actions& out) {
    goes_on_until_ = std::max(goes_on_until_, until);
    std::erase_if(idle_, [&](auto const& i) {
      if (i.second >= goes_on_until_) return false;
      out.emplace_back(bsp::send{i.first, bsp::goes_on{epoch, goes_on_until_}});
      return true;
    });
  }
  /// `root` asks the others only when it waits itself.
  void idle(rank_id from, bsp::idle const& i, rank_id root, std::vector<rank_id> const& members,
            bsp_actions& out) {
    idle_[from] = i.step;
    member_continues(i.epoch, i.step, out);  // after all earlier supersteps
    auto const waits = [&](rank_id r) {
      auto const at = idle_.find(r);
      return at != idle_.end() && at->second == i.step;
    };
    if (std::all_of(members.begin(), members.end(), waits)) {
      out.emplace_back(bsp::no_more{i.epoch});
      return;
    }
    if (!waits(root) || asked_ >= i.step) return;
    asked_ = i.step;
    for (rank_id const r : members)
      if (!waits(r)) out.emplace_back(bsp::send{r, bsp::ask{i.epoch, i.step}});
  }
  friend bool operator==(idle_members const&, idle_members const&) = default;
  auto fields() const { return std::tie(idle_, goes_on_until_, asked_); }

 private:
  std::map<rank_id, std::uint64_t> idle_;  // members that wait after this superstep
  std::uint64_t goes_on_until_ = 0;        // a member continues after each superstep before this one
  std::optional<std::uint64_t> asked_;     // the latest superstep after which all were asked to continue
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
