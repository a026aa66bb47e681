// Pure functions that form groups, divide units into shares, and deal out ranks.
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
};

/// Forms groups of about `size` ranks and about equal power: ranks / size groups, but no more than units. If
/// ranks differ in power, groups differ in size. Shares are contiguous and proportional to the groups' power,
/// with at least one unit each. `power` holds one positive number per rank. "Groups" and "shares" are the
/// terms of [Bajaj93, §5.2].
[[nodiscard]] std::vector<group_plan> form_groups(std::span<double const> power, unsigned size,
                                                  std::uint64_t first_unit, std::uint64_t end_unit);

/// Divides n in proportion to the weights, by largest remainder; of equal ones the earlier comes first. All
/// parts are 0 if all weights are 0.
[[nodiscard]] std::vector<std::uint64_t> proportional(std::uint64_t n,
                                                      std::span<std::uint64_t const> weights);

/// A share whose end may go to other ranks.
struct share_to_split {
  double left = 0;              ///< units not handed out
  std::uint64_t untouched = 0;  ///< of these, whole units at the end that no host has started to read
  double own_power = 1;         ///< total power of the ranks that work on it
  std::uint64_t ranks = 1;      ///< that would take the end
  double power = 1;             ///< total power of these ranks
};

/// Returns the number of whole units to split off the end of a share; the remaining work is divided in
/// proportion to power. Returns 0 if fewer than two units are untouched, or fewer than one for each rank that
/// would come: ranks wait while their new host starts, so they should help the old group instead.
[[nodiscard]] std::uint64_t units_to_let_go(share_to_split const& share);

/// The cost of one unit, in seconds of one rank: to read it; to process all its pieces; and to cut, pack and
/// send all its pieces and receive their results.
struct unit_times {
  double read_seconds = 0;
  double compute_seconds = 0;
  double send_seconds = 0;
};

/// Estimates the seconds that `ranks` ranks in groups of about `size` take for `units` units. A group that
/// starts in the middle reads `history` more units. Members idle while their host reads its first unit. After
/// that, the bottleneck is either the host, which reads and sends, or the group as a whole. With `reassigns`,
/// groups share the work at the end, except for half a unit.
[[nodiscard]] double group_seconds(unit_times const& times, int ranks, unsigned size, std::uint64_t units,
                                   unsigned history, bool reassigns);
/// Returns the smallest size from 1 to `ranks` that minimises group_seconds().
[[nodiscard]] unsigned best_group_size(unit_times const& times, int ranks, std::uint64_t units,
                                       unsigned history, bool reassigns);

}  // namespace skel
