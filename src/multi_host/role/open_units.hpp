// The units that a host has open, and the ranks that have their pieces.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
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

}  // namespace skel::role
