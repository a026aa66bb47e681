// The problems that one rank of a divide_and_conquer call has, and those that it waits for.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "divide_and_conquer/role/action.hpp"
#include "divide_and_conquer/role/rank_span.hpp"

namespace skel::role {

/// A rank keeps the problems that it hands on, for ranks that ask for them after a loss. A regular value.
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
    out.push_back(divide_act::keep_problem{group});
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
  friend bool operator==(held_problems const&, held_problems const&) = default;
  auto fields() const { return std::tie(all_, wanted_); }

 private:
  std::map<rank_span, state> all_;
  std::map<rank_span, rank_id> wanted_;  // and the rank that must send it
};

}  // namespace skel::role
