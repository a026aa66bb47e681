// What a partner has and wants: problems and solutions of groups of ranks, and how it comes by them.
#include <utility>

#include "divide_and_conquer/role/partner.hpp"

namespace skel::role {

using kind = peer_message_kind;
namespace part = divide_act;

// --- what there is, and who has the rest

// The largest group that this rank is the first of: what it is handed, and what it hands back.
rank_span partner::largest_led(rank_id rank) const {
  auto s = everybody();
  while (s.first != rank) s = half_with(s, alone(rank));
  return s;
}

rank_span partner::target() const {
  if (config_.to == solution_place::everywhere) return everybody();
  return config_.to == solution_place::root ? largest_led(config_.self) : alone(config_.self);
}

// Whether this rank makes the solution of `s` when nobody is lost.
bool partner::mine(rank_span s) const {
  if (config_.to == solution_place::everywhere) return s.contains(config_.self);
  return s.first == config_.self;
}

std::optional<rank_span> partner::solution_with(rank_span s) const {
  for (auto const& have : solutions_)
    if (have.contains(s)) return have;
  return std::nullopt;
}

// The smallest group around `s` whose problem is here.
std::map<rank_span, partner::problem_state>::const_iterator partner::problem_with(rank_span s) const {
  auto best = problems_.end();
  for (auto it = problems_.begin(); it != problems_.end(); ++it)
    if (it->first.contains(s) && (best == problems_.end() || it->first.size() < best->first.size()))
      best = it;
  return best;
}

// Of the living that make the solution of `s`, the one that this rank should get it from.
std::optional<rank_id> partner::who_has_solution(rank_span s) const {
  if (config_.to != solution_place::everywhere) {
    if (is_lost(s.first)) return std::nullopt;
    return s.first;
  }
  auto const sibling = sibling_of(everybody(), s);
  int const place =
      sibling.contains(config_.self) ? partner_of(sibling, config_.self, s) - s.first : config_.self;
  for (int i = 0; i < s.size(); ++i) {
    rank_id const r = s.first + (place + i) % s.size();
    if (!is_lost(r)) return r;
  }
  return std::nullopt;
}

// --- problems

void partner::want_problem(rank_span s, divide_actions& out) {
  if (config_.from == problem_place::parts) {
    if (std::exchange(told_part_lost_, true)) return;
    out.push_back(part::send{0, {.kind = kind::part_lost, .number = static_cast<std::uint64_t>(s.first)}});
    return;
  }
  // It comes from whoever divides, or the call ends without it: nobody else may have a lost rank's part.
  if (config_.to == solution_place::parts) return;
  bool const own = s.contains(config_.self);
  if (own) s = largest_led(config_.self);  // others wait for their parts of it
  auto const at = wanted_problems_.find(s);
  if (at != wanted_problems_.end() && !is_lost(at->second)) return;
  auto above = s;
  do above = parent_of(everybody(), above);
  while (above.first == config_.self || is_lost(above.first));  // the root, at last: it is never lost
  bool const will_come =
      own && at == wanted_problems_.end() && above.first == parent_of(everybody(), s).first;
  wanted_problems_[s] = above.first;
  if (!will_come) tell(above.first, kind::need_problem, s, out);
}

// Whether the problem of `s` is here; if not, what brings it here is set going.
bool partner::obtain_problem(rank_span s, divide_actions& out) {
  auto const at = problem_with(s);
  if (at == problems_.end()) {
    want_problem(s, out);
    return false;
  }
  auto const [group, state] = *at;
  if (group == s && state != problem_state::dividing) return true;
  if (state == problem_state::here) {
    problems_[group] = problem_state::dividing;
    out.push_back(part::divide{group});
  }
  return false;
}

void partner::divided(rank_span group, divide_actions& out) {
  if (draining_ || ended_) return;
  problems_.erase(group);
  problems_.try_emplace(group.left(), problem_state::here);
  problems_.try_emplace(group.right(), problem_state::here);
  if (config_.from == problem_place::root && group.first == config_.self)
    tell(group.right().first, kind::problem, group.right(), out);
  advance(out);
}

void partner::whole(rank_span group, divide_actions& out) {
  if (draining_ || ended_) return;
  problems_[group] = problem_state::undivided;
  solved_whole_.insert(group);
  advance(out);
}

void partner::on_problem(rank_span s, divide_actions& out) {
  wanted_problems_.erase(s);
  if (problem_with(s) != problems_.end()) return;
  problems_[s] = problem_state::here;
  out.push_back(part::keep_problem{s});
}

// --- solutions

// Whether the solution of `s`, or of more, is here; if not, what brings it here is set going.
bool partner::pursue(rank_span s, divide_actions& out) {
  if (solution_with(s)) return true;
  auto& g = goals_[s];
  if (g.busy) return false;
  if (!g.made_here && !mine(s)) {
    if (g.from && !is_lost(*g.from)) return false;
    bool const first = !g.from;
    g.from = who_has_solution(s);
    if (g.from) {
      auto const parent = parent_of(everybody(), s);
      auto const from = *g.from;
      bool const natural = config_.to == solution_place::everywhere
                               ? parent.contains(config_.self) &&
                                     from == partner_of(sibling_of(everybody(), s), config_.self, s)
                               : parent.first == config_.self;
      if (!first || !natural) tell(from, kind::need_solution, s, out);
      return false;
    }
    g.made_here = true;
    ++taken_over_;
  }
  make(s, g, out);
  return false;
}

void partner::make(rank_span s, goal& g, divide_actions& out) {
  auto const around = problem_with(s);
  if (around != problems_.end() && around->second == problem_state::undivided) {
    auto const all = around->first;
    if (all == s) {
      g.busy = true;
      out.push_back(part::solve{s});
    } else if (mine(all) || g.made_here) {
      if (!mine(all)) goals_[all].made_here = true;
      pursue(all, out);
    }
  } else if (s.single()) {
    if (!obtain_problem(s, out)) return;
    g.busy = true;
    out.push_back(part::solve{s});
  } else {
    bool const left = pursue(s.left(), out);
    bool const right = pursue(s.right(), out);
    if (!left || !right) return;
    goals_[s].busy = true;
    solutions_.erase(s.left());
    solutions_.erase(s.right());
    out.push_back(part::combine{s});
  }
}

void partner::solved(rank_span group, divide_actions& out) {
  if (draining_ || ended_) return;
  on_solution(group, out);
  advance(out);
}

void partner::on_solution(rank_span s, divide_actions& out) {
  if (solution_with(s)) return;
  std::erase_if(solutions_, [&](rank_span inner) { return s.contains(inner); });
  solutions_.insert(s);
  out.push_back(part::keep_solution{s});
}

}  // namespace skel::role
