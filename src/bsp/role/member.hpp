// One rank of a bulk synchronous parallel call: restores its state, computes supersteps and saves
// its part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bsp/role/action.hpp"
#include "bsp/role/message.hpp"
#include "role/attendance.hpp"

namespace skel::role {

struct bsp_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;
  friend bool operator==(bsp_member_config const&, bsp_member_config const&) = default;
};

/// A superstep ends when every member has sent every other member its bundle of messages. A rank
/// that has all bundles therefore needs no barrier. After a loss, the root (bsp_conductor) begins a
/// new epoch with the remaining ranks, from a state that all of them can read. Messages of an older
/// epoch are ignored, so nothing has to be undone. The root's bundle announces whether the next
/// superstep begins with a checkpoint.
///
/// A regular value; events append their actions to `out`. Relies on the wire contract.
class bsp_member {
 public:
  bsp_member() = default;
  explicit bsp_member(bsp_member_config config) : config_(config), attendance_(config.self, config.root) {}

  void begin(bsp_actions& out);
  void on(call_message const& m, bsp_actions& out) { attendance_.on(m, out); }
  void on(bsp::restart const& r, bsp_actions& out);
  void on(rank_id from, bsp::bundle const& b, bsp_actions& out);
  /// The state of the epoch is restored; `step` is its next superstep.
  void restored(std::uint64_t epoch, std::uint64_t step, bsp_actions& out);
  void unreadable(std::uint64_t epoch, std::string text, bsp_actions& out);
  /// The superstep is done. `more`: this rank continues, or has sent a message.
  void computed(std::uint64_t epoch, bool more, bsp_actions& out);
  /// On the root: all ranks save the state after the current superstep as this generation.
  void announce(std::uint64_t generation) { announced_ = generation; }
  /// The part of the latest `save` is durable (`well`), or cannot be saved.
  void saved(std::uint64_t generation, bool well, bsp_actions& out);
  /// The user's code threw.
  void failed(std::string text, bsp_actions& out) { attendance_.failed(step_, std::move(text), out); }
  void please_stop(bsp_actions& out) { attendance_.please_stop(out); }
  /// After drain: no job runs any more.
  void quiet(bsp_actions& out) { attendance_.quiet(out); }
  void lost(rank_id rank, bsp_actions& out) { attendance_.lost(rank, out); }

  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] std::vector<rank_id> const& members() const { return members_; }
  /// This rank's place among the members, if it is one.
  [[nodiscard]] std::uint32_t place() const { return place_; }
  /// The place of a rank among the members; empty: it is not a member.
  [[nodiscard]] std::optional<std::uint32_t> place_of(rank_id rank) const;
  friend bool operator==(bsp_member const&, bsp_member const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct arrival {
    std::set<rank_id> from;
    bool more = false;
    std::uint64_t save = 0;
    friend bool operator==(arrival const&, arrival const&) = default;
  };
  struct written {
    std::uint64_t epoch = 0, generation = 0;
    friend bool operator==(written const&, written const&) = default;
  };
  void arrived(rank_id from, bsp::bundle const& b);
  void maybe_next(bsp_actions& out);
  void save(std::uint64_t generation, bsp_actions& out);
  void send_root(bsp_message what, bsp_actions& out) const;

  bsp_member_config config_;
  attendance attendance_;
  std::uint64_t epoch_ = 0, step_ = 0, stamp_ = 0;
  std::vector<rank_id> members_;
  std::uint32_t place_ = 0;
  bool waits_ = false;                                                   // has sent its bundles of step_
  std::map<std::pair<std::uint64_t, std::uint64_t>, arrival> arrivals_;  // keyed by epoch and superstep
  std::uint64_t announced_ = 0;
  std::optional<written> writing_;  // the part being saved
  bool complete_ = false;           // on the root: the result is complete
};

}  // namespace skel::role
