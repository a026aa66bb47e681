// Bulk synchronous parallel programs: what one rank does next. Each superstep ends when every member has
// sent every other its bundle of messages, so a rank that has them all knows that all have come so far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "skel/protocol/action.hpp"
#include "skel/protocol/peer_message.hpp"

namespace skel::protocol {

namespace bsp_action {
struct send {
  rank_id to = 0;
  peer_message what{};
  friend bool operator==(send const&, send const&) = default;
};
/// The messages of the bundle that has just come are those of this rank in this epoch and superstep.
struct keep {
  std::uint64_t epoch = 0, step = 0;
  rank_id from = 0;
  friend bool operator==(keep const&, keep const&) = default;
};
/// What was kept of earlier epochs is void.
struct drop_before {
  std::uint64_t epoch = 0;
  friend bool operator==(drop_before const&, drop_before const&) = default;
};
/// All members have ended: the state is the result.
struct complete {
  friend bool operator==(complete const&, complete const&) = default;
};
}  // namespace bsp_action
using bsp_action_t =
    std::variant<bsp_action::send, bsp_action::keep, bsp_action::drop_before, bsp_action::complete>;
using bsp_actions = std::vector<bsp_action_t>;

/// A regular value. After a loss the root begins a new epoch with the ranks that are left, from a state that
/// all of them can have again; what belongs to an older epoch is ignored.
class bsp_member {
 public:
  bsp_member() = default;
  bsp_member(rank_id self, rank_id root) : self_(self), root_(root) {}

  /// What the compute thread is to do. It answers with loaded() or computed(), or not at all where the epoch
  /// has changed meanwhile.
  struct job {
    enum class kind : std::uint8_t { load, run } what = kind::load;
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;        ///< run
    std::uint64_t generation = 0;  ///< load: 0: the beginning; run: save this one first, 0: none
    friend bool operator==(job const&, job const&) = default;
  };
  /// Each job once.
  [[nodiscard]] std::optional<job> take_job() { return std::exchange(job_, std::nullopt); }
  [[nodiscard]] bool has_job() const { return job_.has_value(); }

  void on(rank_id from, peer_message const& m, bsp_actions& out);
  /// The state of the epoch is there; its next superstep is `step`.
  void loaded(std::uint64_t epoch, std::uint64_t step, bsp_actions& out);
  /// Superstep done. `more`: this rank goes on, or has sent something. `save`: the root wants the state after
  /// this superstep saved as this generation.
  void computed(std::uint64_t epoch, bool more, std::uint64_t save, bsp_actions& out);

  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] std::vector<rank_id> const& members() const { return members_; }
  [[nodiscard]] std::uint64_t stamp() const { return stamp_; }
  /// This rank's place among the members; empty: it is none.
  [[nodiscard]] std::optional<std::size_t> place() const;
  friend bool operator==(bsp_member const&, bsp_member const&) = default;

 private:
  struct arrival {
    std::set<rank_id> from;
    bool more = false;
    std::uint64_t save = 0;
    friend bool operator==(arrival const&, arrival const&) = default;
  };
  void arrived(rank_id from, std::uint64_t epoch, std::uint64_t step, bool more, std::uint64_t save);
  void maybe_next(bsp_actions& out);
  void restart(peer_message const& m, bsp_actions& out);

  rank_id self_ = 0, root_ = 0;
  std::uint64_t epoch_ = 0, step_ = 0, stamp_ = 0;
  std::vector<rank_id> members_;
  bool waits_ = false;                                                   // has sent its bundles of step_
  std::map<std::pair<std::uint64_t, std::uint64_t>, arrival> arrivals_;  // by epoch and superstep
  std::optional<job> job_;
};

/// The root's part: epochs, and checkpoints from their beginning to their commit.
class bsp_conductor {
 public:
  bsp_conductor() = default;
  /// `stamp`: what every rank must know to save a part, see generation_plan.
  bsp_conductor(std::vector<rank_id> ranks, std::uint64_t stamp) : living_(std::move(ranks)), stamp_(stamp) {}

  /// A new epoch of all that live, from this generation on (0: the beginning).
  void restart(std::uint64_t generation, peer_messages& out);
  /// True: a member is lost, and the caller restarts from what it thinks best.
  [[nodiscard]] bool lost(rank_id rank);
  /// Says the latest restart again to whom has not shown that it has heard it.
  void tick(peer_messages& out);
  void heard(rank_id from, std::uint64_t epoch);

  /// A checkpoint begins in this epoch.
  void save(std::uint64_t generation);
  /// True: with this rank's part all are durable.
  [[nodiscard]] bool saved(rank_id from, std::uint64_t epoch, std::uint64_t generation);
  void give_up_saving() { saving_ = 0; }
  [[nodiscard]] bool saving() const { return saving_ != 0; }

  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// From which this epoch has begun.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] std::size_t living() const { return living_.size(); }
  friend bool operator==(bsp_conductor const&, bsp_conductor const&) = default;

 private:
  [[nodiscard]] peer_message word() const;

  std::vector<rank_id> living_, members_;
  std::uint64_t epoch_ = 0, generation_ = 0, stamp_ = 0;
  std::set<rank_id> heard_;  // of the members, in this epoch
  std::uint64_t saving_ = 0;
  std::set<rank_id> saved_;
  unsigned ticks_ = 0;
};

}  // namespace skel::protocol
