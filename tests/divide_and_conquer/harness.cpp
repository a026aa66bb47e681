#include "harness.hpp"

namespace divide_harness {

using kind = event::kind;

namespace {

std::string text_of(items p) { return std::to_string(p.first) + "-" + std::to_string(p.second); }

}  // namespace

world::world(scenario const& s, fault* f) : peer_world(s, f) {
  for (int r = 0; r < s.ranks; ++r)
    at(r).role = role::divide_partner({r, s.ranks, s.from, s.to, call_hash(r)});
}

// --- events

void world::begin(int rank) {
  auto& n = at(rank);
  auto const& s = *scenario_;
  if (s.from == placement::in_parts)
    n.problems[role::alone(rank)] = {rank, rank + 1};
  else if (s.from == placement::everywhere || rank == 0)
    n.problems[{0, s.ranks}] = {0, s.items};
  role::divide_actions list;
  n.role.begin(list);
  perform(rank, list);
}

void world::receive(int from, int to, packet& p) {
  auto& n = at(to);
  auto const* const call = std::get_if<role::call_message>(&p.what);
  if (to == 0 && call != nullptr) {
    call_roll(&role::roll_call::on, from, *call);
    if (for_roll_call(*call)) return;
  }
  if (call != nullptr && std::holds_alternative<role::finish>(*call)) {
    n.result = p.solution;
    if (auto const own = n.solutions.find({0, scenario_->ranks}); own != n.solutions.end())
      n.result = own->second;
  }
  role::divide_actions list;
  n.role.on(from, p.what, list);
  perform(to, list, p.problem, p.solution);
}

void world::hear_lost(int rank, int peer) {
  role::divide_actions list;
  at(rank).role.lost(peer, list);
  perform(rank, list);
}

void world::hear_tick(int rank) {
  role::divide_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

void world::please_stop(int rank) {
  role::divide_actions list;
  at(rank).role.please_stop(list);
  perform(rank, list);
}

void world::add_own(int rank, std::vector<event>& all) const {
  for (int j = 0; j < static_cast<int>(at(rank).jobs.size()); ++j) all.push_back({kind::finish, rank, j});
}

// A job is done.
void world::apply_own(event const& e) {
  auto& n = at(e.a);
  auto const j = n.jobs.at(static_cast<std::size_t>(e.b));
  n.jobs.erase(n.jobs.begin() + e.b);
  ++n.calls;
  role::divide_actions list;
  if (job_fails()) {
    n.role.failed(n.calls, "it throws", list);
    perform(e.a, list);
    return;
  }
  std::string solution;
  if (j.what == job::kind::divide) {
    if (atomic(j.problem)) {
      n.role.whole(j.group, list);
    } else {
      int const middle = (j.problem.first + j.problem.second + 1) / 2;
      if (!n.draining) {
        n.problems.erase(j.group);
        n.problems[j.group.left()] = {j.problem.first, middle};
        n.problems[j.group.right()] = {middle, j.problem.second};
      }
      n.role.divided(j.group, list);
    }
  } else {
    solution = j.what == job::kind::solve ? text_of(j.problem) : "(" + j.left + " " + j.right + ")";
    n.role.solved(j.group, list);
  }
  perform(e.a, list, {}, solution);
}

std::uint64_t world::most_events() const { return 200 * static_cast<std::uint64_t>(scenario_->ranks); }

std::string world::waits_for() const {
  std::string text;
  for (int a = 0; a < scenario_->ranks; ++a)
    if (active(a)) text += "; rank " + std::to_string(a) + " waits for " + at(a).role.waits_for();
  return text.substr(std::min<std::size_t>(2, text.size()));
}

// --- what must hold

std::string world::expected(rank_span s, items p) const {
  if (scenario_->from == placement::in_parts) {
    if (s.single()) return text_of({s.first, s.last});
  } else if (s.single() || atomic(p)) {
    return text_of(p);
  }
  int const middle = (p.first + p.second + 1) / 2;
  return "(" + expected(s.left(), {p.first, middle}) + " " + expected(s.right(), {middle, p.second}) + ")";
}

// The solutions of the parts in the order of the ranks.
std::string world::expected_parts(rank_span s, items p) const {
  auto text = expected(s, p);
  std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
  return text;
}

void world::check_done() const {
  auto const& s = *scenario_;
  rank_span const all{0, s.ranks};
  items const problem{0, s.items};
  if (s.to == placement::in_parts) {
    std::string text;
    for (auto const& n : nodes_)
      for (auto const& [group, part] : n.solutions) text += (text.empty() ? "" : " ") + part;
    require(deaths_ > 0 || text == expected_parts(all, problem), "wrong parts: " + text);
    return;
  }
  for (int r = 0; r < s.ranks; ++r)
    if (at(r).alive && (r == 0 || s.to == placement::everywhere))
      require(at(r).result == expected(all, problem), "a wrong solution: " + at(r).result);
}

bool world::may_lose_parts() const {
  return scenario_->from == placement::in_parts || scenario_->to == placement::in_parts;
}

std::uint64_t world::again() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.taken_over();
  return n;
}

}  // namespace divide_harness
