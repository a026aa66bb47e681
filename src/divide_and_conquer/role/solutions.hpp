// The solutions that one rank of a divide_and_conquer call has.
#pragma once

#include <optional>
#include <set>
#include <tuple>

#include "divide_and_conquer/role/action.hpp"
#include "divide_and_conquer/role/groups.hpp"
#include "divide_and_conquer/role/rank_span.hpp"

namespace skel::role {

/// A rank keeps its largest solutions. A regular value.
class held_solutions {
 public:
  /// The solution of `s` or of a larger group.
  [[nodiscard]] std::optional<rank_span> with(rank_span s) const {
    for (auto const& have : all_)
      if (have.contains(s)) return have;
    return std::nullopt;
  }
  void keep(rank_span s, divide_actions& out) {
    if (with(s)) return;
    std::erase_if(all_, [&](rank_span inner) { return s.contains(inner); });
    all_.insert(s);
    out.push_back(divide_act::keep_solution{s});
  }
  /// The solutions of both halves of `s` are being combined.
  void combine(rank_span s) {
    all_.erase(s.left());
    all_.erase(s.right());
  }
  /// The problem of `group` cannot be divided.
  void solve_whole(rank_span group) { whole_.insert(group); }
  /// Sends each solution once to the ranks that wait for it. Must run before the solutions are combined.
  void push(divide_groups const& groups, divide_actions& out);
  friend bool operator==(held_solutions const&, held_solutions const&) = default;
  auto fields() const { return std::tie(all_, whole_, pushed_); }

 private:
  std::set<rank_span> all_;  // none is inside another
  std::set<rank_span> whole_;
  std::set<rank_span> pushed_;  // own groups whose solution has been sent to their partners
};

}  // namespace skel::role
