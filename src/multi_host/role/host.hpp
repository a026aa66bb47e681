// The host of a group: reads units in order, hands out their pieces, and keeps each until its result returns.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "multi_host/role/message.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

/// Identifies a piece by its unit and its number.
struct piece_name {
  std::uint64_t unit = 0;
  std::uint64_t piece = 0;
  friend auto operator<=>(piece_name const&, piece_name const&) = default;
};

/// A unit is open from its first pieces until all its results have left. If a rank is lost, its pieces
/// without a result are handed out again, as suspects: any of them may have killed the rank
/// (protocol/suspects.hpp).
class open_units {
 public:
  /// `most_losses`: a piece is blamed after the loss of this many ranks that had it; 0: never.
  explicit open_units(unsigned most_losses = 2) : most_losses_(most_losses), suspects_(most_losses) {}

  /// The unit being read has this many pieces so far.
  void extend(std::uint64_t unit, std::uint64_t pieces);
  /// The unit has been read completely.
  void set_whole(std::uint64_t unit) { units_[unit].whole = true; }
  /// Hands the next waiting pieces of one unit, at most `most`, to a rank.
  [[nodiscard]] piece_run take(std::uint64_t most, rank_id for_rank);
  /// Hands the next suspect to a rank that has nothing else; empty if no suspect waits.
  [[nodiscard]] piece_run take_suspect(rank_id for_rank);
  /// The rank reports that it runs this suspect and nothing else.
  void begun(rank_id rank, piece_name piece);

  /// Whether the unit has these pieces, as far as it has been read.
  [[nodiscard]] bool has(piece_run const& run) const;
  /// Records results; calls `fresh(piece_run)` for those that are the first for their pieces.
  template <class Fresh>
  void record(piece_run const& run, Fresh const& fresh);
  /// Whether the unit has all its results; true only once.
  [[nodiscard]] bool completed(std::uint64_t unit);
  /// Closes the unit; returns false if it was not open.
  bool erase(std::uint64_t unit) { return units_.erase(unit) > 0; }
  void clear();

  /// A rank is lost; called again on every tick while it is.
  void lost(rank_id rank);
  /// Returns a piece to blame, if any.
  [[nodiscard]] std::optional<suspects<piece_name>::verdict> tick();

  [[nodiscard]] bool contains(std::uint64_t unit) const { return units_.contains(unit); }
  [[nodiscard]] bool empty() const { return units_.empty(); }
  [[nodiscard]] std::size_t size() const { return units_.size(); }
  /// Number of waiting pieces, without suspects.
  [[nodiscard]] std::uint64_t pooled() const;
  /// Number of units with such pieces.
  [[nodiscard]] std::uint64_t waiting() const;
  /// Number of pieces taken back from lost ranks.
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  void from_outside(rank_id rank) { suspects_.from_outside(rank); }
  /// Whether there are suspects, and whether one of them waits.
  [[nodiscard]] bool has_suspects() const { return !suspects_.empty(); }
  [[nodiscard]] bool suspect_waits() const { return suspects_.next().has_value(); }
  [[nodiscard]] bool holds_suspect(rank_id rank) const { return suspects_.holds_one(rank); }
  /// Whether a rank has pieces without a result.
  [[nodiscard]] bool holds_any(rank_id rank) const;
  /// Waiting work of the units that have been read completely, in thousandths of units.
  [[nodiscard]] std::uint64_t left() const;
  auto fields() const { return std::tie(units_, suspects_, begun_); }

 private:
  // The holder of a piece: a rank, or one of these.
  enum : rank_id { in_pool = -1, recorded = -2, suspected = -3 };
  struct open_unit {
    std::vector<rank_id> pieces;
    std::uint64_t pooled = 0;
    std::uint64_t suspected = 0;
    std::uint64_t missing = 0;  // without a result
    std::uint64_t next = 0;     // no piece before it is in the pool
    bool whole = false;         // read completely
    bool leaving = false;       // has all its results
  };

  void take_back(open_unit& u, piece_name piece, rank_id from);
  void has_result(open_unit& u, piece_name piece);

  unsigned most_losses_;
  std::map<std::uint64_t, open_unit> units_;
  suspects<piece_name> suspects_;
  std::set<piece_name> begun_;  // suspects that run alone
  std::uint64_t taken_back_ = 0;
};

template <class Fresh>
void open_units::record(piece_run const& run, Fresh const& fresh) {
  auto& u = units_.at(run.unit);
  piece_run now{run.unit, run.first, 0};
  for (auto p = run.first; p < run.first + run.count; ++p) {
    if (u.pieces[p] == recorded) {
      if (now.count > 0) fresh(now);
      now = {run.unit, p + 1, 0};
      continue;
    }
    has_result(u, {run.unit, p});
    ++now.count;
  }
  if (now.count > 0) fresh(now);
}

/// Serves requests in the order of their arrival, with packets that shrink as the pieces run out. Hands out
/// suspects one at a time, each to a member that has nothing else.
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

/// The host of a group, while this rank leads one. It records which member has which pieces, so it hands out
/// the pieces of a lost member again at once: one at a time, each to a member that has nothing else, because
/// one of them may have killed the member. A piece that kills its processes is blamed. The first result of a
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
  void on(rank_id from, group::lead const& m, group_actions& out);
  void on(rank_id from, group::serve const& m, group_actions& out);
  void on(rank_id from, group::go const& m, group_actions& out);
  void on(rank_id from, group::split const& m, group_actions& out);
  void on(rank_id from, group::last_resort const& m, group_actions& out);
  void on(rank_id from, group::request const& m, group_actions& out);
  void on(rank_id from, group::begins const& m, group_actions& out);
  void on(rank_id from, group::returned const& m, group_actions& out);
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
  void begin_term(group::lead const& m, group_actions& out);
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
