#include "divide_and_conquer/role/partner.hpp"

#include <algorithm>
#include <utility>

#include "role/digest.hpp"

namespace skel::role {

using kind = peer_message_kind;
namespace part = divide_act;

namespace {

std::string named(rank_span s) {
  if (s.single()) return "rank " + std::to_string(s.first);
  return "ranks " + std::to_string(s.first) + " to " + std::to_string(s.last - 1);
}

}  // namespace

rank_span group_of(peer_message const& m) {
  if (m.ids.size() != 2) return {};
  return {static_cast<int>(m.ids[0]), static_cast<int>(m.ids[1])};
}

partner::partner(partner_config config) : config_(config) {}

// --- what others are told

void partner::tell(rank_id to, peer_message_kind what, rank_span group, divide_actions& out) const {
  peer_message m{.kind = what};
  m.ids = {static_cast<std::uint64_t>(group.first), static_cast<std::uint64_t>(group.last)};
  out.push_back(part::send{to, std::move(m)});
}

// Where this rank's groups have partners that wait for them: sent before they are combined away.
void partner::push_solutions(divide_actions& out) {
  auto const push = [&](rank_span group, auto const& partners) {
    auto const have = solution_with(group);
    if (!have || !pushed_.insert(group).second) return;
    // Where everybody has the problem, each rank of such a group finds out for itself.
    if (*have != group && config_.from == problem_place::everywhere && solved_whole_.contains(*have)) return;
    for (auto const r : partners) tell(r, kind::solution, *have, out);
  };
  if (config_.to == solution_place::root) {
    auto const led = largest_led(config_.self);
    if (led != everybody()) push(led, std::vector<rank_id>{parent_of(everybody(), led).first});
  } else if (config_.to == solution_place::everywhere) {
    for (auto s = alone(config_.self); s != everybody(); s = parent_of(everybody(), s)) {
      if (pushed_.contains(s)) continue;
      auto const other = sibling_of(everybody(), s);
      std::vector<rank_id> partners;
      for (rank_id r = other.first; r < other.last; ++r)
        if (partner_of(other, r, s) == config_.self) partners.push_back(r);
      push(s, partners);
    }
  }
}

void partner::answer_requests(divide_actions& out) {
  std::vector<request> const open(requests_.begin(), requests_.end());
  for (auto const& r : open) {
    if (is_lost(r.from)) continue;  // until it is heard of
    if (auto const have = solution_with(r.group)) {
      tell(r.from, kind::solution, *have, out);
      requests_.erase(r);
    } else if (r.problem) {
      if (obtain_problem(r.group, out)) {
        tell(r.from, kind::problem, r.group, out);
        requests_.erase(r);
      } else if (auto const at = problem_with(r.group);
                 at != problems_.end() && at->second == problem_state::undivided) {
        goals_[at->first].made_here = true;
        pursue(at->first, out);
      }
    }
  }
}

void partner::check_reached(divide_actions& out) {
  if (config_.to == solution_place::root) {
    if (config_.self == 0 && !complete_ && solution_with(everybody())) {
      complete_ = true;
      out.push_back(part::complete{});
    }
    return;
  }
  if (!told_reached_) {
    auto const have = solution_with(target());
    auto const at = problem_with(alone(config_.self));
    bool const nothing_to_do = config_.to == solution_place::parts && at != problems_.end() &&
                               at->second == problem_state::undivided && !mine(at->first);
    if (have || nothing_to_do) {
      told_reached_ = true;
      tell(0, kind::reached, have && config_.to == solution_place::parts ? *have : alone(config_.self), out);
    }
  }
  if (config_.self != 0 || complete_) return;
  for (rank_id r = 0; r < config_.ranks; ++r)
    if (!reached_.contains(r) && (config_.to == solution_place::parts || !is_lost(r))) return;
  complete_ = true;
  out.push_back(part::complete{});
}

void partner::advance(divide_actions& out) {
  if (!begun_ || draining_ || ended_) return;
  push_solutions(out);
  pursue(target(), out);
  answer_requests(out);
  check_reached(out);
}

// --- events

void partner::begin(divide_actions& out) {
  begun_ = true;
  out.push_back(part::send{0, {.kind = kind::hello, .number = config_.call_hash}});
  if (config_.from == problem_place::parts)
    problems_[alone(config_.self)] = problem_state::here;
  else if (config_.from == problem_place::everywhere || config_.self == 0)
    problems_[everybody()] = problem_state::here;
  advance(out);
}

void partner::on(rank_id from, peer_message const& m, divide_actions& out) {
  if (ended_) return;
  lost_.erase(from);
  auto const group = group_of(m);
  bool const about_group = is_group(everybody(), group);
  switch (m.kind) {
    case kind::problem:
      if (about_group && !draining_) on_problem(group, out);
      break;
    case kind::solution:
      if (about_group && !draining_) on_solution(group, out);
      break;
    case kind::need_problem:
    case kind::need_solution:
      if (about_group) requests_.insert({from, m.kind == kind::need_problem, group});
      break;
    case kind::reached:
      for (rank_id r = group.first; about_group && r < group.last; ++r) reached_.insert(r);
      break;
    case kind::stop:
      start_draining(out);
      break;
    case kind::finish:
      ended_ = true;
      out.push_back(end{m.result.value_or(outcome{})});
      break;
    case kind::abort:
      ended_ = true;
      out.push_back(fail{fail::reason::protocol, m.text});
      break;
    default:
      break;  // for the root's roll call
  }
  advance(out);
}

void partner::lost(rank_id rank, divide_actions& out) {
  if (ended_ || rank == config_.self) return;
  if (rank == 0) {
    ended_ = true;
    out.push_back(fail{fail::reason::lost_root, {}});
    return;
  }
  lost_.insert(rank);
  said_lost_.insert(rank);
  if (config_.self == 0 && config_.to == solution_place::parts && !complete_ &&
      !std::exchange(told_part_lost_, true))
    out.push_back(part::send{0, {.kind = kind::part_lost, .number = static_cast<std::uint64_t>(rank)}});
  advance(out);
}

void partner::tick(divide_actions& out) {
  lost_ = std::exchange(said_lost_, {});
  advance(out);
}

void partner::start_draining(divide_actions& out) {
  stop_heard_ = true;
  if (std::exchange(draining_, true)) return;
  out.push_back(part::drain{});
}

void partner::failed(std::uint64_t number, std::string text, divide_actions& out) {
  if (ended_) return;
  out.push_back(part::send{0, {.kind = kind::failed, .number = number, .text = std::move(text)}});
  if (std::exchange(draining_, true)) return;
  out.push_back(part::drain{});
}

void partner::please_stop(divide_actions& out) {
  if (!ended_ && !draining_) out.push_back(part::send{0, {.kind = kind::please_stop}});
}

void partner::quiet(divide_actions& out) {
  if (!stop_heard_ || told_stopped_ || ended_) return;
  told_stopped_ = true;
  out.push_back(part::send{0, {.kind = kind::stopped}});
}

std::string partner::waits_for() const {
  std::string text;
  auto const add = [&](std::string const& what, rank_span s, rank_id from) {
    text += (text.empty() ? "" : ", ") + what + named(s) + " from rank " + std::to_string(from);
  };
  for (auto const& [s, from] : wanted_problems_) add("the problem of ", s, from);
  for (auto const& [s, g] : goals_)
    if (!solution_with(s) && !g.made_here && g.from) add("the solution of ", s, *g.from);
  return text;
}

std::uint64_t partner::hash() const {
  digest d;
  auto const add = [&](rank_span s) { d.add(static_cast<std::uint64_t>(s.first * 4096 + s.last)); };
  for (auto const& [s, state] : problems_) {
    add(s);
    d.add(static_cast<std::uint64_t>(state));
  }
  d.add(problems_.size());
  for (auto const& [s, from] : wanted_problems_) {
    add(s);
    d.add(static_cast<std::uint64_t>(from));
  }
  d.add(wanted_problems_.size());
  for (auto const* set : {&solutions_, &solved_whole_, &pushed_}) {
    for (auto const s : *set) add(s);
    d.add(set->size());
  }
  for (auto const& [s, g] : goals_) {
    add(s);
    d.add(g.from ? static_cast<std::uint64_t>(*g.from) + 1 : 0).add(g.made_here).add(g.busy);
  }
  d.add(goals_.size());
  for (auto const& r : requests_) {
    add(r.group);
    d.add(static_cast<std::uint64_t>(r.from)).add(r.problem);
  }
  d.add(requests_.size());
  for (auto const* set : {&lost_, &said_lost_, &reached_}) {
    for (auto const r : *set) d.add(static_cast<std::uint64_t>(r));
    d.add(set->size());
  }
  d.add(begun_).add(told_reached_).add(told_part_lost_).add(complete_).add(draining_);
  d.add(stop_heard_).add(told_stopped_).add(ended_).add(taken_over_);
  return d.value();
}

}  // namespace skel::role
