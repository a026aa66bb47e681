#include "harness.hpp"

#include <algorithm>

namespace divide_harness {

using kind = event::kind;

namespace {

std::string text_of(items p) { return std::to_string(p.first) + "-" + std::to_string(p.second); }

}  // namespace

world::world(scenario const& s, fault* f)
    : peer_world(s, f), root_role_({0, s.ranks, s.from, s.to, call_hash(0)}, s.most_losses) {
  for (int r = 0; r < s.ranks; ++r)
    at(r).role = role::divide_member({r, s.ranks, s.from, s.to, call_hash(r)});
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
  if (to == 0) {
    role::divide_actions list;
    bool const answered = root_role_.on(from, p.what, list);
    perform(0, list);
    if (answered) return;
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
  if (rank == 0) root_role_.lost(peer, list);
  perform(rank, list);
}

void world::hear_tick(int rank) {
  role::divide_actions list;
  at(rank).role.tick(list);
  if (rank == 0) root_role_.tick(list);
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

// Finishes a job.
void world::apply_own(event const& e) {
  auto& n = at(e.a);
  auto const j = n.jobs.at(static_cast<std::size_t>(e.b));
  role::group_work const work{j.group, j.what == job::kind::combine};
  if (scenario_->poison == work) return run_poison(e.a);
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

void world::run_poison(int rank) {
  auto const& s = *scenario_;
  role::divide_groups const groups({rank, s.ranks, s.from, s.to});
  if (rank == 0)
    for (int r = 1; r < s.ranks; ++r)
      require(!at(r).alive || suspicions_ > 0, "the root works on a suspect while other ranks live");
  poisoned_takers_ += groups.works_on(rank, *s.poison) ? 0 : 1;
  // One more rank is lost if the root learns of a taker's loss before the loss of the work's owner.
  require(!undisturbed() || poisoned_takers_ <= static_cast<int>(s.most_losses) + 1,
          "deadly work kills too many ranks");
  apply({kind::die, rank, 0, ~0ULL});
}

// A rank with permission to do the work may have died just before or just after doing it.
void world::check_blame(role::divide::blame const& b) const {
  auto const& s = *scenario_;
  auto const allowed = allowed_.find(b.work);
  unsigned takers = 0;
  for (int const r : b.ranks) {
    require(!at(r).alive || suspicions_ > 0, "a living rank is counted as lost");
    role::divide_groups const groups({r, s.ranks, s.from, s.to});
    bool const took_it = allowed != allowed_.end() && allowed->second.contains(r);
    require(took_it || groups.works_on(r, b.work), "work is blamed for a rank that did not do it");
    takers += took_it ? 1 : 0;
  }
  bool others = false;
  for (int r = 1; r < s.ranks; ++r) others = others || (at(r).alive && !lost_[wire(0, r)]);
  auto const least = others ? s.most_losses : std::max(1U, s.most_losses - 1);
  require(s.most_losses > 0 && takers >= least, "work is blamed too early");
  require(!undisturbed() || b.work == s.poison, "work is blamed that killed no rank");
}

std::uint64_t world::most_events() const { return 200 * static_cast<std::uint64_t>(scenario_->ranks); }

std::string world::waits_for() const {
  std::string text;
  for (int a = 0; a < scenario_->ranks; ++a)
    if (active(a)) text += "; rank " + std::to_string(a) + " waits for " + at(a).role.waits_for();
  return text.substr(std::min<std::size_t>(2, text.size()));
}

// --- invariants

std::string world::expected(rank_span s, items p) const {
  if (scenario_->from == placement::in_parts) {
    if (s.single()) return text_of({s.first, s.last});
  } else if (s.single() || atomic(p)) {
    return text_of(p);
  }
  int const middle = (p.first + p.second + 1) / 2;
  return "(" + expected(s.left(), {p.first, middle}) + " " + expected(s.right(), {middle, p.second}) + ")";
}

// Returns the solutions of the parts, in rank order.
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
