// The root's part of a bulk synchronous parallel call: epochs, and checkpoints from their beginning to their
// commit.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/message.hpp"
#include "bsp/role/superstep_watch.hpp"

namespace skel::role {

/// A checkpoint that can be restored, as far as is known.
struct bsp_generation {
  std::uint64_t number = 0;
  std::uint32_t parts = 0;
  std::optional<std::uint64_t> step{};  ///< with which it begins, once that is known
  friend bool operator==(bsp_generation const&, bsp_generation const&) = default;
};

struct bsp_conductor_config {
  rank_id self = 0;
  std::vector<rank_id> ranks{};
  bool splits = false;                   ///< the program can cut its state anew for another number of ranks
  std::uint64_t stamp = 0;               ///< of the generations of this run
  std::uint64_t newest = 0;              ///< no generation in the store has a larger number
  std::vector<bsp_generation> usable{};  ///< to resume from, in the order in which they are to be tried
  unsigned max_losses = 2;  ///< one more while the same superstep is computed, and it is blamed; 0: never
  friend bool operator==(bsp_conductor_config const&, bsp_conductor_config const&) = default;
};

/// - A new epoch begins with all living ranks from the newest generation that can be restored, when the run
///   begins, when a member is lost, and when a member cannot read its part.
/// - A loss waits a few ticks for a commit that is under way: its generation saves work.
/// - A state that cannot be cut anew is only restored on as many ranks as it is of; otherwise the run ends
///   (part_lost).
/// - One checkpoint at a time: it is announced with a superstep of the root, and committed when every member
///   of its epoch has saved its part. Numbers are never used twice.
/// - While a superstep is to blame for losses (superstep_watch), no epoch begins.
/// - A rank that was suspected wrongly stays away: it has no state that the others need.
///
/// A regular value; events append their actions to `out`. It knows no clock: ticks tell the time.
class bsp_conductor {
 public:
  bsp_conductor() = default;
  explicit bsp_conductor(bsp_conductor_config config);

  void begin(bsp_actions& out) { restart(out); }
  void on(rank_id from, bsp::joined const& j);
  /// Also for the root's own.
  void on(rank_id from, bsp::bundle const& b);
  void on(rank_id from, bsp::saved const& s, bsp_actions& out);
  /// A generation that looked well cannot be read after all: all ranks take the one before.
  void on(bsp::unreadable const& u, bsp_actions& out);
  /// The root's member begins superstep `step`. `due`: the time between checkpoints is over.
  void begins(std::uint64_t epoch, std::uint64_t step, bool due, bsp_actions& out);
  void committed(std::uint64_t generation, bool well, bsp_actions& out);
  /// Who is lost may be said again.
  void lost(rank_id rank, bsp_actions& out);
  void tick(bsp_actions& out);
  /// The call ends: nothing is begun any more.
  void stop() { stopped_ = true; }

  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// The generation whose parts are being saved, and the one that is being committed; 0: none.
  [[nodiscard]] std::uint64_t saving() const { return saving_; }
  [[nodiscard]] std::uint64_t committing() const { return committing_.number; }
  friend bool operator==(bsp_conductor const&, bsp_conductor const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  void restart(bsp_actions& out);
  void tell_restart(rank_id to, bsp_actions& out) const;
  void go_on_without_lost(bsp_actions& out);
  void blame(superstep_watch::verdict const& v, bsp_actions& out);
  [[nodiscard]] std::uint64_t newest_usable() const { return usable_.empty() ? 0 : usable_.front().number; }
  [[nodiscard]] bool fits(bsp_generation const& g) const {
    return config_.splits || g.parts == living_.size();
  }

  bsp_conductor_config config_;
  std::vector<rank_id> living_, members_;
  std::vector<bsp_generation> usable_;  // in the order in which they are to be tried
  std::uint64_t epoch_ = 0, generation_ = 0;
  superstep_watch watch_;
  bool begun_ = false;  // the root has begun a superstep of this epoch
  bool moved_ = false;  // all members have computed a superstep
  std::uint64_t newest_ = 0, saving_ = 0;
  std::optional<std::uint64_t> saving_step_;  // the state of `saving_` begins with it
  std::set<rank_id> saved_;
  bsp_generation committing_;
  std::optional<rank_id> lost_;  // a member, and the epoch without it has not begun
  unsigned waited_ = 0;          // ticks, for a commit
  unsigned ticks_ = 0;           // since the epoch began
  bool stopped_ = false;
};

}  // namespace skel::role
