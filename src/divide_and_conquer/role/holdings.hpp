// What one rank of a divide_and_conquer call has: problems, solutions, and its result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "divide_and_conquer/role/groups.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/membership.hpp"

namespace skel::role {

/// A rank keeps the problems that it hands on, for ranks that ask for them after a loss.
class held_problems {
 public:
  enum class state : std::uint8_t { here, dividing, undivided };
  struct held {
    rank_span group;
    state at{};
  };

  void set(rank_span group, state at) { all_[group] = at; }
  /// Keeps a problem that has arrived, unless it is part of one that this rank has.
  void arrived(rank_span group, divide_actions& out) {
    std::erase_if(wanted_, [&](auto const& w) { return group.contains(w.first); });
    if (around(group)) return;
    set(group, state::here);
    out.push_back(divide::keep_problem{group});
  }
  /// The problems of both halves take the place of the group's.
  void divided(rank_span group) {
    all_.erase(group);
    all_.try_emplace(group.left(), state::here);
    all_.try_emplace(group.right(), state::here);
  }
  /// The smallest group around `s` whose problem this rank has.
  [[nodiscard]] std::optional<held> around(rank_span s) const {
    std::optional<held> best;
    for (auto const& [group, at] : all_)
      if (group.contains(s) && (!best || group.size() < best->group.size())) best = held{group, at};
    return best;
  }

  /// This rank waits for the problem of `s` from rank `from`.
  void want(rank_span s, rank_id from) { wanted_[s] = from; }
  [[nodiscard]] std::optional<rank_id> wanted_from(rank_span s) const {
    auto const at = wanted_.find(s);
    return at == wanted_.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] std::map<rank_span, rank_id> const& wanted() const { return wanted_; }
  auto fields() const { return std::tie(all_, wanted_); }

 private:
  std::map<rank_span, state> all_;
  std::map<rank_span, rank_id> wanted_;  // and the rank that must send it
};

/// A rank keeps its largest solutions.
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
    out.push_back(divide::keep_solution{s});
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
  auto fields() const { return std::tie(all_, whole_, pushed_); }

 private:
  std::set<rank_span> all_;  // none is inside another
  std::set<rank_span> whole_;
  std::set<rank_span> pushed_;  // own groups whose solution has been sent to their partners
};

/// Every rank reports its result to the root, which completes the call.
class arrivals {
 public:
  /// On the root: all ranks of the group have their results.
  void reached(rank_span group) {
    for (rank_id r = group.first; r < group.last; ++r) reached_.insert(r);
  }
  /// Reports the result of this rank once it is there. On the root: completes the call.
  void check(divide_groups const& groups, held_solutions const& solutions, held_problems const& problems,
             membership const& lost, divide_actions& out);
  /// On the root: rank `rank` has reported that it has its result.
  [[nodiscard]] bool has(rank_id rank) const { return reached_.contains(rank); }
  [[nodiscard]] bool complete() const { return complete_; }
  auto fields() const { return std::tie(reached_, reported_, complete_); }

 private:
  std::set<rank_id> reached_;
  bool reported_ = false;
  bool complete_ = false;
};

}  // namespace skel::role
