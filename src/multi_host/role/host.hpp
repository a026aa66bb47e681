// The host of a group: reads units in order, gives their pieces, keeps each until its result is back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "multi_host/role/action.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct group_host_config {
  rank_id self = 0;
  rank_id root = 0;
  farm_policy policy = schedule::guided{}.policy();  ///< how many pieces a packet has: size and chunk
  unsigned read_ahead = 1;                           ///< units read that nobody has begun
  unsigned buffers = 0;                              ///< packets under way and not received; 0: no limit
  std::uint64_t left_alone = default_left_alone;     ///< the arbiter's: it wants to know when that is reached
  friend bool operator==(group_host_config const&, group_host_config const&) = default;
};

/// The host of a group, while this rank leads one. It knows which slave has which pieces, so a loss is
/// answered at once: the pieces wait again. Results count once, by unit and piece, the first wins.
///
/// A unit is open from its first pieces until all its results are back; `read_ahead + 2` are, at most. Pieces
/// may be given while their unit is still being read. Units at the end of its share that it has not begun to
/// read go to another host when the arbiter asks for them; it answers from where on it lets go.
///
/// A regular value; events append their actions to `out`. It relies on the wire contract.
class group_host {
 public:
  group_host() = default;
  explicit group_host(group_host_config config) : config_(std::move(config)) {}

  /// The first `pieces` pieces of the unit that is being read are there.
  void readied(term_id term, std::uint64_t pieces, group_actions& out);
  /// The unit is read; it has so many pieces, perhaps none.
  void was_read(term_id term, std::uint64_t pieces, group_actions& out);
  /// The results of the unit may leave, or stay where they have been taken.
  void delivered(term_id term, std::uint64_t unit, group_actions& out);
  void on(rank_id from, group_msg::lead const& m, group_actions& out);
  void on(rank_id from, group_msg::serve const& m, group_actions& out);
  void on(rank_id from, group_msg::go const& m, group_actions& out);
  void on(rank_id from, group_msg::split const& m, group_actions& out);
  void on(rank_id from, group_msg::request const& m, group_actions& out);
  void on(rank_id from, group_msg::got const& m, group_actions& out);
  void on(rank_id from, group_msg::returned const& m, group_actions& out);
  /// The call ends: nobody leads any more.
  void stop(group_actions& out);
  void lost(rank_id rank, group_actions& out);

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] term_id term() const { return term_; }
  [[nodiscard]] std::size_t open_units() const { return units_.size(); }
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Pieces that wait for somebody who asks.
  [[nodiscard]] std::uint64_t pooled() const;
  /// Pieces that were given to a rank and taken back, as it was lost.
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(group_host const&, group_host const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  // Who has a piece: a rank, or
  enum : rank_id { in_pool = -1, recorded = -2 };
  struct open_unit {
    std::vector<rank_id> pieces;
    std::uint64_t pooled = 0;
    std::uint64_t missing = 0;  // without a result
    std::uint64_t next = 0;     // no piece before it waits
    bool whole = false;         // all is read
    bool leaving = false;       // all results are here
    friend bool operator==(open_unit const&, open_unit const&) = default;
  };
  struct request {
    rank_id from = 0;
    std::uint64_t threads = 1;
    std::uint64_t most = 0;  // pieces it would take; 0: no limit
    friend bool operator==(request const&, request const&) = default;
  };

  [[nodiscard]] bool in(term_id term) const { return active_ && !stopped_ && term == term_; }
  void asks(term_id term, request r, group_actions& out);
  void close(group_actions& out);
  void advance(group_actions& out);
  void maybe_read(group_actions& out);
  void give(group_actions& out);
  [[nodiscard]] std::uint64_t grant_for(request const& r) const;
  [[nodiscard]] piece_run take(std::uint64_t most, rank_id for_whom);
  void put_back(open_unit& u, std::uint64_t piece);
  void maybe_deliver(std::uint64_t unit, group_actions& out);
  [[nodiscard]] std::uint64_t left() const;
  void tell_left(group_actions& out);
  void extend(std::uint64_t unit, std::uint64_t pieces);

  group_host_config config_;
  bool active_ = false;
  bool stopped_ = false;
  term_id term_ = 0;
  std::uint64_t next_ = 0;  // to be read, or being read
  std::uint64_t end_ = 0;
  std::uint64_t ranks_ = 1;  // of the group, as planned
  bool fresh_ = false;
  bool reading_ = false;
  bool holding_ = false;  // until all hosts are ready
  bool loaded_ = false;
  std::map<std::uint64_t, open_unit> units_;
  std::deque<request> waiting_;
  std::vector<std::pair<term_id, request>> early_;  // of a term that this rank has not heard of
  std::map<rank_id, std::uint64_t> clients_;        // threads of those that have asked
  std::map<rank_id, unsigned> under_way_;           // packets not received yet, where their number is limited
  std::uint64_t told_left_ = 0;
  std::uint64_t taken_back_ = 0;
};

}  // namespace skel::role
