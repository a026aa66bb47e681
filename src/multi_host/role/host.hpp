// The host of a group: reads units in order, gives their pieces, keeps each until its result is back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "multi_host/role/action.hpp"
#include "multi_host/role/open_units.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct group_host_config {
  rank_id self = 0;
  rank_id root = 0;
  farm_policy policy = schedule::guided{}.policy();  ///< how many pieces a packet has: size and chunk
  unsigned read_ahead = 1;                           ///< units read whose pieces all wait
  unsigned buffers = 0;                              ///< packets under way and not received; 0: no limit
  std::uint64_t left_alone = default_left_alone;     ///< the arbiter's: it wants to know when that is reached
  unsigned most_losses = 2;                          ///< of ranks with the same piece; 0: any number
  friend bool operator==(group_host_config const&, group_host_config const&) = default;
};

/// The host of a group, while this rank leads one. It knows which worker has which pieces, so pieces of a
/// lost worker are given again at once, one at a time, each to a worker that has nothing else: one of them
/// may have ended the worker. A piece that ends its process is blamed. Results count once per piece; the
/// first wins.
///
/// At most `read_ahead + 2` units are open at a time. Pieces may be given while their unit is still being
/// read. When the arbiter asks for it, units at the end of the share that are not begun go to another host.
///
/// A regular value; events append their actions to `out`. It relies on the wire contract.
class group_host {
 public:
  group_host() = default;
  explicit group_host(group_host_config config) : config_(std::move(config)), units_(config_.most_losses) {}

  /// Reading of an `alone` unit begins now.
  void opens(term_id term, std::uint64_t unit, group_actions& out) const;
  /// The first `pieces` pieces of the unit that is being read are there.
  void readied(term_id term, std::uint64_t pieces, group_actions& out);
  /// The unit is read; it has this number of pieces, perhaps 0.
  void was_read(term_id term, std::uint64_t pieces, group_actions& out);
  /// The results of the unit may leave, or stay where they have been taken.
  void delivered(term_id term, std::uint64_t unit, group_actions& out);
  void on(rank_id from, group_msg::lead const& m, group_actions& out);
  void on(rank_id from, group_msg::serve const& m, group_actions& out);
  void on(rank_id from, group_msg::go const& m, group_actions& out);
  void on(rank_id from, group_msg::split const& m, group_actions& out);
  void on(rank_id from, group_msg::last_resort const& m, group_actions& out);
  void on(rank_id from, group_msg::request const& m, group_actions& out);
  void on(rank_id from, group_msg::got const& m, group_actions& out);
  void on(rank_id from, group_msg::begins const& m, group_actions& out);
  void on(rank_id from, group_msg::returned const& m, group_actions& out);
  /// The call ends: this rank leads no longer.
  void stop(group_actions& out);
  void lost(rank_id rank, group_actions& out);
  void tick(group_actions& out);

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] term_id term() const { return term_; }
  [[nodiscard]] std::size_t units_open() const { return units_.size(); }
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Pieces that wait for a request.
  [[nodiscard]] std::uint64_t pooled() const { return units_.pooled(); }
  /// Pieces that were given to a rank and taken back, as it was lost.
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(group_host const&, group_host const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct request {
    rank_id from = 0;
    std::uint64_t threads = 1;
    std::uint64_t most = 0;  // pieces it would take; 0: no limit
    friend bool operator==(request const&, request const&) = default;
  };
  // What the arbiter was told last.
  struct report {
    std::uint64_t left = 0;
    bool suspects = false;
    bool stale = false;  // tell it in any case
    friend bool operator==(report const&, report const&) = default;
  };

  [[nodiscard]] bool in(term_id term) const { return active_ && !stopped_ && term == term_; }
  void begin_term(group_msg::lead const& m, group_actions& out);
  void asks(term_id term, request r, group_actions& out);
  void close(group_actions& out);
  void advance(group_actions& out);
  void maybe_read(group_actions& out);
  void give(group_actions& out);
  void give_suspects(bool to_itself, group_actions& out);
  [[nodiscard]] bool withheld_from(rank_id rank) const;
  [[nodiscard]] std::uint64_t grant_for(request const& r) const;
  void maybe_deliver(std::uint64_t unit, group_actions& out);
  [[nodiscard]] std::uint64_t left() const;
  void tell_left(group_actions& out);

  group_host_config config_;
  bool active_ = false;
  bool stopped_ = false;
  term_id term_ = 0;
  std::uint64_t next_ = 0;  // to be read, or being read
  std::uint64_t end_ = 0;
  bool alone_ = false;       // its units were open on lost hosts
  bool more_ = false;        // other units follow
  std::uint64_t ranks_ = 1;  // of the group, as planned
  bool fresh_ = false;
  bool reading_ = false;
  bool holding_ = false;  // until all hosts are ready
  bool loaded_ = false;
  bool last_resort_ = false;  // its own rank may process suspects
  open_units units_;
  std::deque<request> waiting_;
  std::vector<std::pair<term_id, request>> early_;  // of a term that this rank has not heard of
  std::map<rank_id, std::uint64_t> clients_;        // threads of ranks that have sent a request
  std::map<rank_id, unsigned> under_way_;           // packets not received yet, where their number is limited
  report told_{};
  std::uint64_t taken_back_ = 0;
};

}  // namespace skel::role
