// How ranks form groups, what a group's share of the units is, and who moves where: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace skel {

/// A group and its share: the ranks first_rank ... + ranks - 1, of which the strongest leads (the first of
/// equal ones), and the units [first_unit, end_unit).
struct group_plan {
  int first_rank = 0;
  int ranks = 1;
  int leader = 0;
  std::uint64_t first_unit = 0;
  std::uint64_t end_unit = 0;
  friend bool operator==(group_plan const&, group_plan const&) = default;
};

/// Groups of about `size` ranks, as many as ranks / size and never more than units, of about equal power
/// each: where ranks are unequal, so are the groups. Shares are contiguous, in proportion to the groups'
/// power, one unit at least. `power` holds one positive number per rank. (Paper, section 5.2; "groups" and
/// "shares" are its words.)
[[nodiscard]] std::vector<group_plan> form_groups(std::span<double const> power, unsigned size,
                                                  std::uint64_t first_unit, std::uint64_t end_unit);

/// Deals n in proportion to the weights, by largest remainder; the earlier of two equal ones first. Nobody
/// gets anything where all weights are 0.
[[nodiscard]] std::vector<std::uint64_t> proportional(std::uint64_t n,
                                                      std::span<std::uint64_t const> weights);

/// A share of which other ranks may take the end.
struct share_to_split {
  double left = 0;              ///< units not given out
  std::uint64_t untouched = 0;  ///< of these, whole units at the end that nobody has begun to read
  double own_power = 1;         ///< of the ranks that work on it
  std::uint64_t ranks = 1;      ///< that would take the end, and
  double power = 1;             ///< their power
};

/// How many whole units at its end a share lets go of: what is left is divided in proportion to power. 0
/// where fewer than two units are untouched, or less than one for each rank that would come: ranks wait while
/// their new host begins, and had better help as they are.
[[nodiscard]] std::uint64_t units_to_let_go(share_to_split const& share);

/// What one unit costs, in seconds of one rank: reading it; processing all its pieces; cutting, packing and
/// sending all its pieces, and receiving their results.
struct unit_times {
  double read_seconds = 0;
  double compute_seconds = 0;
  double send_seconds = 0;
};

/// Seconds that `ranks` ranks in groups of about `size` take for `units` units, of which a group that begins
/// in the middle reads `history` once more. While the first units are read nobody else has work; then either
/// the host is the bottleneck, which reads and sends, or the group as a whole. With `reassigns` groups share
/// their ends but for half a unit.
[[nodiscard]] double group_seconds(unit_times const& times, int ranks, unsigned size, std::uint64_t units,
                                   unsigned history, bool reassigns);
/// The size from 1 to `ranks` with the least group_seconds(); of equal ones the smallest.
[[nodiscard]] unsigned best_group_size(unit_times const& times, int ranks, std::uint64_t units,
                                       unsigned history, bool reassigns);

}  // namespace skel
