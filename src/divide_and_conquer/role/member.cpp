#include "divide_and_conquer/role/member.hpp"

#include <utility>

namespace skel::role {

using divide_say::make_solution;
using divide_say::need_problem;
using divide_say::need_solution;
using divide_say::problem;
using divide_say::reached;
using divide_say::solution;

namespace {

template <class What>
void tell(rank_id to, What what, divide_actions& out) {
  out.push_back(divide_act::send{to, what});
}

}  // namespace

// --- events

void divide_member::begin(divide_actions& out) {
  begun_ = true;
  auto const& c = groups_.config();
  out.push_back(tell_root{hello{c.call_hash}});
  if (c.from == placement::in_parts)
    problems_[alone(c.self)] = problem_state::here;
  else if (c.from == placement::everywhere || c.self == 0)
    problems_[everybody()] = problem_state::here;
  advance(out);
}

void divide_member::divided(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group}, out);
  problems_.erase(group);
  problems_.try_emplace(group.left(), problem_state::here);
  problems_.try_emplace(group.right(), problem_state::here);
  if (groups_.config().from == placement::on_root && group.first == self())
    tell(group.right().first, problem{group.right()}, out);
  advance(out);
}

void divide_member::whole(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group}, out);
  problems_[group] = problem_state::undivided;
  solved_whole_.insert(group);
  advance(out);
}

void divide_member::solved(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group, goals_[group].combining}, out);
  if (!groups_.makes(group)) ++taken_over_;
  keep_solution(group, out);
  advance(out);
}

void divide_member::failed(std::uint64_t number, std::string text, divide_actions& out) {
  attendance_.failed(number, std::move(text), out);
}

void divide_member::on(rank_id from, divide_message const& m, divide_actions& out) {
  if (attendance_.ended()) return;
  lost_.heard(from);
  if (auto const* const call = std::get_if<call_message>(&m))
    attendance_.on(*call, out);
  else
    on_own(from, m, out);
  advance(out);
}

void divide_member::on_own(rank_id from, divide_message const& m, divide_actions& out) {
  auto const is_ours = [&](rank_span group) { return is_group(everybody(), group); };
  if (auto const* const p = std::get_if<problem>(&m)) {
    if (is_ours(p->group) && attendance_.active()) keep_problem(p->group, out);
  } else if (auto const* const s = std::get_if<solution>(&m)) {
    if (is_ours(s->group) && attendance_.active()) keep_solution(s->group, out);
  } else if (auto const* const np = std::get_if<need_problem>(&m)) {
    if (is_ours(np->group)) requests_.insert({from, request_kind::problem, np->group});
  } else if (auto const* const ns = std::get_if<need_solution>(&m)) {
    if (is_ours(ns->group)) requests_.insert({from, request_kind::solution, ns->group});
  } else if (auto const* const ms = std::get_if<make_solution>(&m)) {
    if (is_ours(ms->group)) requests_.insert({from, request_kind::make, ms->group});
  } else if (auto const* const yes = std::get_if<divide_say::allow_takeover>(&m)) {
    turn_.allow(yes->work);
  } else if (auto const* const other = std::get_if<divide_say::leave_takeover>(&m)) {
    turn_.leave(other->work);
    left_[other->work.group] = other->to;
  } else if (auto const* const done = std::get_if<reached>(&m)) {
    if (!is_ours(done->group)) return;
    for (rank_id r = done->group.first; r < done->group.last; ++r) reached_.insert(r);
  }
}

void divide_member::lost(rank_id rank, divide_actions& out) {
  if (attendance_.ended() || rank == self() || attendance_.lost(rank, out)) return;
  lost_.lost(rank);
  if (self() == 0 && groups_.config().to == placement::in_parts && !complete_) lose_part(rank, out);
  advance(out);
}

void divide_member::tick(divide_actions& out) {
  lost_.tick();
  advance(out);
}

// --- consequences of any event

void divide_member::advance(divide_actions& out) {
  if (!begun_ || !attendance_.active()) return;
  turn_.begin_pass();
  push_solutions(out);
  pursue(groups_.target(), out);
  answer_requests(out);
  check_reached(out);
  turn_.end_pass(out);
}

// Must run before the solutions are combined and dropped.
void divide_member::push_solutions(divide_actions& out) {
  for (auto s = alone(self()); s != everybody(); s = parent_of(everybody(), s)) {
    if (pushed_.contains(s)) continue;
    auto const ranks = groups_.waiting_for(s);
    if (ranks.empty()) continue;
    auto const have = solution_with(s);
    if (!have) continue;
    pushed_.insert(s);
    // If the problem is everywhere, each rank of a group that is solved as a whole finds out by
    // itself.
    if (*have != s && groups_.config().from == placement::everywhere && solved_whole_.contains(*have))
      continue;
    for (auto const r : ranks) tell(r, solution{*have}, out);
  }
}

void divide_member::answer_requests(divide_actions& out) {
  if (requests_.empty()) return;
  std::vector<request> const open(requests_.begin(), requests_.end());
  for (auto const& r : open)
    if (!lost_.is_lost(r.from) && answer(r, out))
      requests_.erase(r);  // the others are answered when they are heard again
}

// Returns false if the request must be answered later.
bool divide_member::answer(request const& r, divide_actions& out) {
  if (auto const have = solution_with(r.group)) {
    tell(r.from, solution{*have}, out);
    return true;
  }
  if (r.what == request_kind::problem) return hand_out_problem(r, out);
  if (r.what == request_kind::make) {
    if (!groups_.makes(r.group)) goals_[r.group].made_here = true;
    pursue(r.group, out);
  }
  return false;
}

// A larger problem that this rank does not divide is divided by the rank that needs a part of it.
bool divide_member::hand_out_problem(request const& r, divide_actions& out) {
  auto const at = problem_with(r.group);
  bool const mine = at == problems_.end() || at->second == problem_state::dividing ||
                    (at->second == problem_state::here && groups_.divides(at->first));
  if (mine && !obtain_problem(r.group, out)) return false;
  tell(r.from, problem{mine ? r.group : at->first}, out);
  return true;
}

void divide_member::check_reached(divide_actions& out) {
  auto const& c = groups_.config();
  if (c.to == placement::on_root) {
    if (c.self == 0 && !complete_ && solution_with(everybody())) {
      complete_ = true;
      out.push_back(divide_act::complete{});
    }
    return;
  }
  if (!told_reached_) {
    auto const have = solution_with(groups_.target());
    auto const at = problem_with(alone(c.self));
    bool const nothing_to_do = c.to == placement::in_parts && at != problems_.end() &&
                               at->second == problem_state::undivided && !groups_.makes(at->first);
    if (have || nothing_to_do) {
      told_reached_ = true;
      tell(0, reached{have && c.to == placement::in_parts ? *have : alone(c.self)}, out);
    }
  }
  if (c.self != 0 || complete_) return;
  for (rank_id r = 0; r < c.ranks; ++r)
    if (!reached_.contains(r) && (c.to == placement::in_parts || !lost_.is_lost(r))) return;
  complete_ = true;
  out.push_back(divide_act::complete{});
}

void divide_member::lose_part(rank_id rank, divide_actions& out) {
  if (!std::exchange(told_part_lost_, true)) out.push_back(tell_root{part_lost{rank}});
}

// --- problems

// The smallest group around `s` whose problem this rank has.
divide_member::problem_iterator divide_member::problem_with(rank_span s) const {
  auto best = problems_.end();
  for (auto it = problems_.begin(); it != problems_.end(); ++it)
    if (it->first.contains(s) && (best == problems_.end() || it->first.size() < best->first.size()))
      best = it;
  return best;
}

void divide_member::want_problem(rank_span s, divide_actions& out) {
  auto const& c = groups_.config();
  if (c.from == placement::in_parts) return lose_part(s.first, out);
  // The dividing rank sends it, or the call ends without it: no other rank can have a lost rank's
  // part.
  if (c.to == placement::in_parts || c.self == 0) return;
  bool const own = s.contains(c.self);
  if (own) s = groups_.led();  // other ranks wait for their parts of it
  auto const at = wanted_problems_.find(s);
  if (at != wanted_problems_.end() && !lost_.is_lost(at->second)) return;
  auto const source = groups_.source_of_problem(s, lost_);
  bool const will_come = own && at == wanted_problems_.end() && source == parent_of(everybody(), s).first;
  wanted_problems_[s] = source;
  if (!will_come) tell(source, need_problem{s}, out);
}

// Returns whether this rank has the problem of `s`; otherwise initiates getting it.
bool divide_member::obtain_problem(rank_span s, divide_actions& out) {
  auto const at = problem_with(s);
  if (at == problems_.end()) {
    want_problem(s, out);
    return false;
  }
  auto const [group, state] = *at;
  if (group == s && state != problem_state::dividing) return true;
  if (state == problem_state::here && !is_left(group) &&
      turn_.may_start({group}, groups_.divides(group), out)) {
    problems_[group] = problem_state::dividing;
    out.push_back(divide_act::divide{group});
  }
  return false;
}

void divide_member::keep_problem(rank_span s, divide_actions& out) {
  std::erase_if(wanted_problems_, [&](auto const& w) { return s.contains(w.first); });
  if (problem_with(s) != problems_.end()) return;
  problems_[s] = problem_state::here;
  out.push_back(divide_act::keep_problem{s});
}

// --- solutions

std::optional<rank_span> divide_member::solution_with(rank_span s) const {
  for (auto const& have : solutions_)
    if (have.contains(s)) return have;
  return std::nullopt;
}

void divide_member::keep_solution(rank_span s, divide_actions& out) {
  if (solution_with(s)) return;
  std::erase_if(solutions_, [&](rank_span inner) { return s.contains(inner); });
  solutions_.insert(s);
  out.push_back(divide_act::keep_solution{s});
}

// Returns whether this rank has the solution of `s` or of a larger group; otherwise initiates
// getting it.
bool divide_member::pursue(rank_span s, divide_actions& out) {
  if (solution_with(s)) return true;
  auto& g = goals_[s];
  if (g.busy) return false;
  if (!g.made_here && !groups_.makes(s)) {
    if (g.from && !lost_.is_lost(*g.from)) return false;
    bool const first = !g.from;
    g.from = groups_.source_of_solution(s, lost_);
    if (g.from) {
      if (!first || !groups_.solution_comes_unasked(s, *g.from)) tell(*g.from, need_solution{s}, out);
      return false;
    }
    g.made_here = true;
  }
  if (g.made_here && is_left(s)) {
    g.made_here = false;
    g.from = left_.at(s);
    tell(*g.from, make_solution{s}, out);
    return false;
  }
  make(s, g, out);
  return false;
}

void divide_member::make(rank_span s, goal& g, divide_actions& out) {
  auto const around = problem_with(s);
  bool const own = groups_.makes(s);
  if (around != problems_.end() && around->second == problem_state::undivided) {
    auto const all = around->first;
    if (all == s) {
      if (!turn_.may_start({s}, own, out)) return;
      g.busy = true;
      out.push_back(divide_act::solve{s});
    } else if (groups_.makes(all) || g.made_here) {
      if (!groups_.makes(all) && !is_left(all)) goals_[all].made_here = true;
      pursue(all, out);
    }
  } else if (s.single()) {
    if (!obtain_problem(s, out) || !turn_.may_start({s}, own, out)) return;
    g.busy = true;
    out.push_back(divide_act::solve{s});
  } else {
    bool const left = pursue(s.left(), out);
    bool const right = pursue(s.right(), out);
    if (!left || !right || !turn_.may_start({s, true}, own, out)) return;
    goals_[s].busy = goals_[s].combining = true;
    solutions_.erase(s.left());
    solutions_.erase(s.right());
    out.push_back(divide_act::combine{s});
  }
}

// Whether a living rank works on this group's problem, so that the root need not.
bool divide_member::is_left(rank_span s) const {
  auto const at = left_.find(s);
  return at != left_.end() && !lost_.is_lost(at->second);
}

// --- descriptions

std::string divide_member::waits_for() const {
  std::string text;
  auto const add = [&](std::string const& what, rank_span s, rank_id from) {
    text += (text.empty() ? "" : ", ") + what + named(s) + " from rank " + std::to_string(from);
  };
  for (auto const& [s, from] : wanted_problems_) add("the problem of ", s, from);
  for (auto const& [s, g] : goals_)
    if (!solution_with(s) && !g.made_here && g.from) add("the solution of ", s, *g.from);
  if (auto const w = turn_.asked())
    text += (text.empty() ? "" : ", ") + ("permission to make " + named(*w)) + " from rank 0";
  return text;
}

}  // namespace skel::role
