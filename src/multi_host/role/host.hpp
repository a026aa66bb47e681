// The host of a group: reads units in order, hands out their pieces, and keeps each until its result returns.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "multi_host/role/message.hpp"
#include "multi_host/role/open_units.hpp"

namespace skel::role {

/// Serves requests in the order of their arrival, with packets that shrink as the pieces run out. Hands out
/// suspects one at a time, each to a worker that has nothing else.
class piece_dealer {
 public:
  struct request {
    rank_id from = 0;
    std::uint64_t threads = 1;
    std::uint64_t most = 0;  ///< pieces it accepts; 0: no limit
  };

  piece_dealer() = default;
  piece_dealer(rank_id self, rank_id root) : self_(self), root_(root) {}

  /// A term begins: requests that came before its host knew it wait from now on. `holds`: until go().
  void begin(term_id term, bool holds);
  void go() { holds_ = false; }
  /// `ranks`: of the group, as planned. `alone`: its unit was open on lost hosts.
  void set_group(std::uint64_t ranks, bool alone) {
    ranks_ = ranks;
    alone_ = alone;
  }
  /// Whether the host's own rank may process suspects.
  void set_last_resort(bool allowed) { last_resort_ = allowed; }
  void add(request const& r);
  /// A request of a term that this rank does not know yet.
  void add_early(term_id term, request const& r);
  void withdraw(rank_id from) {
    std::erase_if(waiting_, [&](request const& r) { return r.from == from; });
  }
  void withdraw_early(term_id term, rank_id from);
  /// Sends packets to the ranks whose requests wait.
  void give(term_id term, open_units& units, group_actions& out);
  void lost(rank_id rank);
  /// The host stops leading.
  void clear();

  /// Whether nothing is handed out, because other hosts are not ready.
  [[nodiscard]] bool holds() const { return holds_; }
  /// Number of requests that wait.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  auto fields() const { return std::tie(alone_, last_resort_, holds_, waiting_, early_, clients_); }

 private:
  void give_suspects(term_id term, bool to_itself, open_units& units, group_actions& out);
  [[nodiscard]] std::uint64_t grant_for(request const& r, std::uint64_t pooled) const;

  rank_id self_ = 0;
  rank_id root_ = 0;
  std::uint64_t ranks_ = 1;
  bool alone_ = false;
  bool last_resort_ = false;
  bool holds_ = false;
  std::deque<request> waiting_;
  std::vector<std::pair<term_id, request>> early_;
  std::map<rank_id, std::uint64_t> clients_;  // threads of each rank that has sent a request
};

struct group_host_config {
  rank_id self = 0;
  rank_id root = 0;
  unsigned read_ahead = 1;  ///< units read in advance
  std::uint64_t left_alone =
      default_left_alone;    ///< the root's threshold; the host reports when it is crossed
  unsigned most_losses = 2;  ///< of ranks with the same piece; 0: no limit
};

/// The host of a group, while this rank leads one. It records which worker has which pieces, so it hands out
/// the pieces of a lost worker again at once: one at a time, each to a worker that has nothing else, because
/// one of them may have killed the worker. A piece that kills its processes is blamed. The first result of a
/// piece counts.
///
/// At most `read_ahead + 2` units are open at a time. The host may hand out pieces of a unit that is still
/// being read. On the root's request, it gives up units at the end of its share that it has not started.
///
/// Events append their actions to `out`. Relies on the wire contract.
class group_host {
 public:
  group_host() = default;
  explicit group_host(group_host_config const& config)
      : config_(config), units_(config.most_losses), dealer_(config.self, config.root) {}

  /// A thread starts to read an `alone` unit.
  void opens(term_id term, std::uint64_t unit, group_actions& out) const;
  /// The first `pieces` pieces of the unit being read are available.
  void readied(term_id term, std::uint64_t pieces, group_actions& out);
  /// The unit has been read; it has this many pieces, possibly 0.
  void was_read(term_id term, std::uint64_t pieces, group_actions& out);
  /// The results of the unit may leave; or the sink on this host has received them.
  void delivered(term_id term, std::uint64_t unit, group_actions& out);
  void on(rank_id from, group_msg::lead const& m, group_actions& out);
  void on(rank_id from, group_msg::serve const& m, group_actions& out);
  void on(rank_id from, group_msg::go const& m, group_actions& out);
  void on(rank_id from, group_msg::split const& m, group_actions& out);
  void on(rank_id from, group_msg::last_resort const& m, group_actions& out);
  void on(rank_id from, group_msg::request const& m, group_actions& out);
  void on(rank_id from, group_msg::begins const& m, group_actions& out);
  void on(rank_id from, group_msg::returned const& m, group_actions& out);
  /// The call ends; this rank stops leading.
  void stop(group_actions& out);
  void lost(rank_id rank, group_actions& out);
  void from_outside(rank_id rank) { units_.from_outside(rank); }
  void tick(group_actions& out);

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] term_id term() const { return term_; }
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] open_units const& units() const { return units_; }
  [[nodiscard]] piece_dealer const& dealer() const { return dealer_; }
  auto fields() const {
    return std::tie(active_, stopped_, term_, next_, end_, alone_, more_, fresh_, reading_, loaded_, units_,
                    dealer_, told_);
  }

 private:
  // The latest report to the root.
  struct report {
    std::uint64_t left = 0;
    bool suspects = false;
    bool stale = false;  // report again, even if nothing has changed
  };

  [[nodiscard]] bool in(term_id term) const { return active_ && !stopped_ && term == term_; }
  void begin_term(group_msg::lead const& m, group_actions& out);
  void asks(term_id term, piece_dealer::request r, group_actions& out);
  void close(group_actions& out);
  void advance(group_actions& out);
  void maybe_read(group_actions& out);
  [[nodiscard]] std::uint64_t left() const;
  void tell_left(group_actions& out);

  group_host_config config_;
  bool active_ = false;
  bool stopped_ = false;
  term_id term_ = 0;
  std::uint64_t next_ = 0;  // the unit to read next, or being read
  std::uint64_t end_ = 0;
  bool alone_ = false;  // its unit was open on lost hosts
  bool more_ = false;   // the root will send more units
  bool fresh_ = false;
  bool reading_ = false;
  bool loaded_ = false;
  open_units units_;
  piece_dealer dealer_;
  report told_{};
};

}  // namespace skel::role
