// Groups of ranks of a divide-and-conquer call: they halve until each is one rank.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace skel::role {

/// The ranks first ... last - 1. The left half of a group is the larger one, so any number of ranks
/// works. For a power of two the groups are the subcubes of a hypercube.
struct rank_span {
  int first = 0;
  int last = 0;

  [[nodiscard]] constexpr int size() const { return last - first; }
  [[nodiscard]] constexpr bool single() const { return size() == 1; }
  [[nodiscard]] constexpr bool contains(int rank) const { return first <= rank && rank < last; }
  [[nodiscard]] constexpr bool contains(rank_span s) const { return first <= s.first && s.last <= last; }
  [[nodiscard]] constexpr rank_span left() const { return {first, first + (size() + 1) / 2}; }
  [[nodiscard]] constexpr rank_span right() const { return {first + (size() + 1) / 2, last}; }
  friend constexpr auto operator<=>(rank_span const&, rank_span const&) = default;
};

[[nodiscard]] constexpr rank_span alone(int rank) { return {rank, rank + 1}; }

/// The half of `s` that contains `part`, a smaller group inside it.
[[nodiscard]] constexpr rank_span half_with(rank_span s, rank_span part) {
  return s.left().contains(part) ? s.left() : s.right();
}

/// Whether `s` is one of the groups that `whole` halves into, `whole` itself included.
[[nodiscard]] constexpr bool is_group(rank_span whole, rank_span s) {
  if (s.size() < 1 || !whole.contains(s)) return false;
  while (whole != s && !whole.single()) whole = half_with(whole, s);
  return whole == s;
}

/// The group that has `s` as a half. `s` must be a group of `whole` other than `whole`.
[[nodiscard]] constexpr rank_span parent_of(rank_span whole, rank_span s) {
  while (half_with(whole, s) != s) whole = half_with(whole, s);
  return whole;
}

/// The other half of the parent.
[[nodiscard]] constexpr rank_span sibling_of(rank_span whole, rank_span s) {
  auto const parent = parent_of(whole, s);
  return parent.left() == s ? parent.right() : parent.left();
}

/// How many times `whole` is halved to reach `s`.
[[nodiscard]] constexpr int depth_of(rank_span whole, rank_span s) {
  int depth = 0;
  for (; whole != s; whole = half_with(whole, s)) ++depth;
  return depth;
}

/// The rank of `group` that serves `rank` of its sibling: the one at the same position. If the
/// sibling has one rank more, its last rank is served by the last rank of the group's left half.
/// That rank had no partner when the group's own halves, if unequal, exchanged.
[[nodiscard]] constexpr int partner_of(rank_span sibling, int rank, rank_span group) {
  int const place = rank - sibling.first;
  return group.first + (place < group.size() ? place : (group.size() - 1) / 2);
}

/// Work that may end a rank: dividing or solving a group's problem, or combining the solutions of its halves.
struct group_work {
  rank_span group{};
  bool combine = false;
  friend constexpr auto operator<=>(group_work const&, group_work const&) = default;
};

/// Readable name: "rank 4", or "ranks 4 to 7".
[[nodiscard]] inline std::string named(rank_span s) {
  if (s.single()) return "rank " + std::to_string(s.first);
  return "ranks " + std::to_string(s.first) + " to " + std::to_string(s.last - 1);
}

/// "the problem of ranks 4 to 7", or "the solution of ranks 4 to 7".
[[nodiscard]] inline std::string named(group_work w) {
  return (w.combine ? "the solution of " : "the problem of ") + named(w.group);
}

}  // namespace skel::role
