#include "divide_and_conquer/role/member.hpp"

#include <utility>

#include "base/overloaded.hpp"

namespace skel::role {

namespace {

template <class What>
void tell(rank_id to, What what, divide_actions& out) {
  out.push_back(divide::send{to, what});
}

}  // namespace

// --- events

void divide_member::begin(divide_actions& out) {
  begun_ = true;
  auto const& c = groups_.config();
  out.push_back(tell_root{hello{c.call_hash}});
  if (c.from == placement::in_parts)
    problems_.set(alone(c.self), problem_state::here);
  else if (c.from == placement::everywhere || c.self == 0)
    problems_.set(everybody(), problem_state::here);
  advance(out);
}

void divide_member::begin_solved(divide_actions& out) {
  begun_ = true;
  out.push_back(tell_root{hello{groups_.config().call_hash}});
  solutions_.keep(everybody(), out);
  advance(out);
}

void divide_member::divided(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group}, out);
  problems_.divided(group);
  if (groups_.config().from == placement::on_root && group.first == self())
    tell(group.right().first, divide::problem{group.right()}, out);
  advance(out);
}

void divide_member::whole(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group}, out);
  problems_.set(group, problem_state::undivided);
  solutions_.solve_whole(group);
  advance(out);
}

void divide_member::solved(rank_span group, divide_actions& out) {
  if (!attendance_.active()) return;
  turn_.finished({group, goals_[group].combining}, out);
  if (!groups_.makes(group)) ++taken_over_;
  solutions_.keep(group, out);
  advance(out);
}

void divide_member::failed(std::uint64_t number, std::string text, divide_actions& out) {
  attendance_.failed(number, std::move(text), out);
}

void divide_member::on(rank_id from, divide_message const& m, divide_actions& out) {
  if (attendance_.ended()) return;
  lost_.heard(from);
  auto const ask = [&](request_kind what, rank_span group) {
    if (is_group(everybody(), group)) requests_.insert({from, what, group});
  };
  std::visit(overloaded{[&](call_message const& own) { attendance_.on(own, out); },
                        [&](divide::problem const& own) {
                          if (keeps(own.group)) problems_.arrived(own.group, out);
                        },
                        [&](divide::solution const& own) {
                          if (keeps(own.group)) solutions_.keep(own.group, out);
                        },
                        [&](divide::need_problem const& own) { ask(request_kind::problem, own.group); },
                        [&](divide::need_solution const& own) { ask(request_kind::solution, own.group); },
                        [&](divide::make_solution const& own) { ask(request_kind::make, own.group); },
                        [&](divide::reached const& own) {
                          if (is_group(everybody(), own.group)) reached_.reached(own.group);
                        },
                        [&](divide::allow_takeover const& own) { turn_.allow(own.work); },
                        [&](divide::leave_takeover const& own) {
                          turn_.leave(own.work);
                          left_[own.work.group] = own.to;
                        },
                        [](divide::ask_takeover const& /*own*/) {},  // for the root
                        [](divide::end_takeover const& /*own*/) {}},
             m);
  advance(out);
}

void divide_member::lost(rank_id rank, divide_actions& out) {
  if (attendance_.ended() || rank == self() || attendance_.lost(rank, out)) return;
  lost_.lost(rank);
  if (self() == 0 && groups_.config().to == placement::in_parts && !reached_.complete()) lose_part(rank, out);
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
  solutions_.push(groups_, out);
  pursue(groups_.target(), out);
  answer_requests(out);
  reached_.check(groups_, solutions_, problems_, lost_, out);
  turn_.end_pass(out);
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
  if (auto const have = solutions_.with(r.group)) {
    tell(r.from, divide::solution{*have}, out);
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
  auto const p = problems_.around(r.group);
  bool const mine =
      !p || p->at == problem_state::dividing || (p->at == problem_state::here && groups_.divides(p->group));
  if (mine && !obtain_problem(r.group, out)) return false;
  tell(r.from, divide::problem{mine ? r.group : p->group}, out);
  return true;
}

void divide_member::lose_part(rank_id rank, divide_actions& out) {
  if (!std::exchange(told_part_lost_, true)) out.push_back(tell_root{part_lost{rank}});
}

// --- problems

void divide_member::want_problem(rank_span s, divide_actions& out) {
  auto const& c = groups_.config();
  if (c.from == placement::in_parts) return lose_part(s.first, out);
  // The dividing rank sends it, or the call ends without it: no other rank can have a lost rank's part.
  if (c.to == placement::in_parts || c.self == 0) return;
  bool const own = s.contains(c.self);
  if (own) s = groups_.led();  // other ranks wait for their parts of it
  auto const before = problems_.wanted_from(s);
  if (before && !lost_.is_lost(*before)) return;
  auto const source = groups_.source_of_problem(s, lost_);
  bool const will_come = own && !before && source == parent_of(everybody(), s).first;
  problems_.want(s, source);
  if (!will_come) tell(source, divide::need_problem{s}, out);
}

// Returns whether this rank has the problem of `s`; otherwise initiates getting it.
bool divide_member::obtain_problem(rank_span s, divide_actions& out) {
  auto const p = problems_.around(s);
  if (!p) {
    want_problem(s, out);
    return false;
  }
  if (p->group == s && p->at != problem_state::dividing) return true;
  if (p->at == problem_state::here && !is_left(p->group) &&
      turn_.may_start({p->group}, groups_.divides(p->group), out)) {
    problems_.set(p->group, problem_state::dividing);
    out.push_back(divide::divide{p->group});
  }
  return false;
}

// --- solutions

// Returns whether this rank has the solution of `s` or of a larger group; otherwise initiates getting it.
bool divide_member::pursue(rank_span s, divide_actions& out) {
  if (solutions_.with(s)) return true;
  auto& g = goals_[s];
  if (g.busy) return false;
  if (!g.made_here && !groups_.makes(s)) {
    if (g.from && !lost_.is_lost(*g.from)) return false;
    bool const first = !g.from;
    g.from = groups_.source_of_solution(s, lost_);
    if (g.from) {
      if (!first || !groups_.solution_comes_unasked(s, *g.from)) tell(*g.from, divide::need_solution{s}, out);
      return false;
    }
    g.made_here = true;
  }
  if (g.made_here && is_left(s)) {
    g.made_here = false;
    g.from = left_.at(s);
    tell(*g.from, divide::make_solution{s}, out);
    return false;
  }
  make(s, g, out);
  return false;
}

void divide_member::make(rank_span s, goal& g, divide_actions& out) {
  auto const p = problems_.around(s);
  bool const own = groups_.makes(s);
  if (p && p->at == problem_state::undivided) {
    auto const all = p->group;
    if (all == s) {
      if (!turn_.may_start({s}, own, out)) return;
      g.busy = true;
      out.push_back(divide::solve{s});
    } else if (groups_.makes(all) || g.made_here) {
      if (!groups_.makes(all) && !is_left(all)) goals_[all].made_here = true;
      pursue(all, out);
    }
  } else if (s.single()) {
    if (!obtain_problem(s, out) || !turn_.may_start({s}, own, out)) return;
    g.busy = true;
    out.push_back(divide::solve{s});
  } else {
    bool const left = pursue(s.left(), out);
    bool const right = pursue(s.right(), out);
    if (!left || !right || !turn_.may_start({s, true}, own, out)) return;
    goals_[s].busy = goals_[s].combining = true;
    solutions_.combine(s);
    out.push_back(divide::combine{s});
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
  for (auto const& [s, from] : problems_.wanted()) add("the problem of ", s, from);
  for (auto const& [s, g] : goals_)
    if (!solutions_.with(s) && !g.made_here && g.from) add("the solution of ", s, *g.from);
  if (auto const w = turn_.asked())
    text += (text.empty() ? "" : ", ") + ("permission to make " + named(*w)) + " from rank 0";
  return text;
}

}  // namespace skel::role
