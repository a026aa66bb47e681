#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "protocol/deal.hpp"

namespace farm_harness {

using kind = event::kind;
using root_role = role::farm_root;
using member = role::farm_member;
using status = role::outcome::status;

std::vector<task_id> ids_of(range_list const& ranges) {
  std::vector<task_id> ids;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) ids.push_back(r[i]);
  return ids;
}

world::world(scenario const& s, fault* f)
    : peer_world(s, f), faults_(f), tasks_(s.tasks), waiting_(static_cast<std::size_t>(s.ranks)) {
  sink_.ordered = s.ordered;
  sink_.fails_at = s.sink_fails_at;
  supplied_ = s.stream ? 0 : s.tasks;
  source_ended_ = !s.stream;
  role::farm_root_config l;
  l.ranks = s.ranks;
  l.first_computing = static_cast<int>(s.servers());
  if (!s.stream) l.list.tasks = s.tasks;
  if (s.costly) {
    std::vector<double> each;
    for (auto left = static_cast<double>(s.tasks); left > 0; --left) each.push_back(left * left);
    l.list.costs = skel::task_costs(each);
    l.list.costly = s.tasks / 3;
  }
  l.policy = s.policy;
  l.ordered = s.ordered;
  l.merged = s.merged;
  l.window = s.window;
  l.first_grant = s.first_grant;
  l.call_hash = call_hash(0);
  l.list.resumed = s.resumed;
  l.losses.most = s.most_losses;
  l.on_error = s.on_error;
  l.audit = {s.audit, s.audit_holds};
  if (s.heavy_every > 0)
    for (int r = 0; r < s.ranks; ++r) l.rooms.push_back({r == s.small_rank ? 1U : 2U, 1});
  for (task_id const id : s.restored) append(l.list.restored, {id, 1, 1});
  for (int r = 0; r < s.ranks; ++r) {
    role::farm_member_config w;
    w.self = r;
    w.call_hash = call_hash(r);
    w.threads = s.threads;
    w.costly = l.list.costly;
    w.asks = skel::asks_root(s.policy);
    w.ring.directed = s.policy.more == skel::schedule::more_from::root_then_ranks;
    if ((s.policy.more == skel::schedule::more_from::ring || w.ring.directed) && s.computing() > 1)
      w.ring.ranks = s.ranks;
    w.ring.first = l.first_computing;
    if (w.ring.directed && s.seed % 2 == 0) w.wait.seconds = 0.04;  // of work: one to four tasks
    w.ring.take = s.policy.take;
    w.ring.give = s.policy.give;
    w.ring.order = s.policy.order;
    w.ring.copies = s.policy.copies;
    w.results = s.results;
    w.wait.ticks = s.send_after_ticks;
    w.threshold = s.policy.threshold;
    w.early = s.policy.early;
    w.fresh = s.steered || (w.ring.directed && r == 0);
    int const index = r - static_cast<int>(s.servers());
    w.computes = index >= 0;
    if (w.computes && s.policy.power.empty()) w.power = 1.0 + r % 3;
    if (w.computes && !s.resumed)
      w.share = skel::known_share(s.policy, s.tasks, static_cast<int>(s.computing()), index, l.list.costs);
    at(r).threads.resize(static_cast<std::size_t>(w.computes ? s.threads : 1));
    at(r).member = member(w);
  }
  root_role_ = root_role(std::move(l));
  if (s.seed % 3 == 0) root_role_.message_cost(0.005 * static_cast<double>(s.seed % 4));
}

// --- events

void world::begin(int rank) {
  if (rank == 0) {  // results of an earlier run go to the sink first
    for (task_id const id : scenario_->restored) ++tasks_.at(id).recorded;
    sink_.push(scenario_->restored);
    tell_root_role(&root_role::begin);
  }
  tell_member(rank, nullptr, &member::begin);
}

void world::receive(int from, int to, packet& p) {
  if (to == 0 && for_root_role(p.what)) return hear(from, p);
  auto& n = at(to);
  if (auto* const g = std::get_if<farm::give>(&p.what); g != nullptr && to == 0)
    g->ranges = root_role_.book().tasks.not_recorded(g->ranges);
  if (!given_tasks(p.what).empty() && scenario_->stream && to != 0)
    n.payloads.insert(n.payloads.end(), p.content.begin(), p.content.end());
  tell_member(to, nullptr, &member::on, from, p.what);
}

void world::hear_lost(int /*rank*/, int peer) {
  if (scenario_->from_outside && !at(peer).alive) root_role_.from_outside(peer);
  tell_root_role(&root_role::lost, peer);
  tell_member(0, nullptr, &member::lost, peer);
}

void world::hear_tick(int rank) {
  if (rank == 0 && roll_.stopping()) call_roll(&role::roll_call::tick);
  if (rank == 0) tell_root_role(&root_role::tick);
  for (int r = 1; rank != 0 && r < scenario_->ranks; ++r)
    if (r != rank && lost_[wire(0, r)]) tell_member(rank, nullptr, &member::lost, r);
  tell_member(rank, nullptr, &member::tick);
}

void world::please_stop(int rank) { tell_member(rank, nullptr, &member::please_stop); }

void world::deliver_own() {
  while (!under_way(0, 0).empty()) deliver(0, 0);
}

void world::follow_up(int /*rank*/) {
  deliver_own();
  was_stopping_ = roll_.stopping();
  complete_ = root_role_.tasks().recorded().count() == scenario_->tasks;
}

bool world::rare(event const& e) const {
  bool const slow = scenario_->seed % 2 == 0;
  return peer_world::rare(e) || (slow && e.what == kind::finish) ||
         (e.what == kind::begin && e.a >= scenario_->ranks - scenario_->late);
}

void world::add_own(int rank, std::vector<event>& all) const {
  auto const& n = at(rank);
  bool idle = false;
  for (int t = 0; t < static_cast<int>(n.threads.size()); ++t)
    if (n.threads[static_cast<std::size_t>(t)])
      all.push_back({kind::finish, rank, t});
    else if (!std::exchange(idle, true) && wants_work(rank))
      all.push_back({kind::start, rank, t});
  if (rank != 0) return;
  if (!source_ended_) all.push_back({kind::supply});
  if (!sink_.queue.empty()) all.push_back({kind::sink});
}

// In an exploration, an idle thread asks for work if that changes something.
bool world::wants_work(int rank) const {
  auto const& n = at(rank);
  if (!scenario_->thorough) return !n.rested;
  auto copy = n.member;
  role::farm_actions list;
  copy.idle(scenario_->most_at_once, list);
  return !list.empty() || !(copy == n.member);
}

void world::apply_own(event const& e) {
  if (e.what == kind::supply) return supply();
  if (e.what == kind::sink) return sink();
  auto const& s = *scenario_;
  auto& t = at(e.a).threads[static_cast<std::size_t>(e.b)];
  if (e.what == kind::finish) return finish(e.a, t);
  tell_member(e.a, &t, &member::idle, s.thorough ? s.most_at_once : 1 + below(s.most_at_once));
  at(e.a).rested = !t && !s.thorough;
  admit(e.a, t);
}

std::uint64_t world::most_events() const {
  return 400 + 20 * (10 + scenario_->tasks) * static_cast<std::uint64_t>(scenario_->ranks);
}

std::string world::waits_for() const {
  auto text = fmt::format("{} of {} recorded, {} sunk, {} in the pool{}",
                          root_role_.tasks().recorded().count(), scenario_->tasks, sink_.received,
                          root_role_.pooled(), roll_.stopping() ? ", stopping" : "");
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto const& n = at(r);
    text += fmt::format("; rank {}: ", r);
    text += !n.alive  ? "dead"
            : n.ended ? "ended"
                      : fmt::format("{} queued, {} unsent{}", n.member.held().queued(),
                                    n.member.held().done(), n.member.waiting() ? ", waiting" : "");
  }
  return text;
}

// --- tasks

bool world::is_poison(task_id id) const { return std::ranges::count(scenario_->poison, id) > 0; }

bool world::fails(task_id id, int rank) const {
  auto const& s = *scenario_;
  if (s.failing_rank) return rank == *s.failing_rank;
  return s.failing_from && id >= *s.failing_from && (id - *s.failing_from) % s.failing_every == 0;
}

// Finishes the thread's tasks, or only some of them.
void world::finish(int rank, thread& on) {
  auto const& s = *scenario_;
  auto& n = at(rank);
  task_range rest = *on;
  auto const most = s.thorough || below(3) > 0 ? rest.count : 1 + below(rest.count);
  std::uint64_t good = 0;
  for (; good < most && !fails(rest[good], rank); ++good)
    if (is_poison(rest[good])) return take_poison(rank, rest[good]);
  bool const throws = good < most;
  auto const front = rest.take_front(good);
  bool const part = !throws && !rest.empty();
  on.reset();
  if (!front.empty()) {
    for (auto const id : ids_of({front}))
      if (!n.draining) n.held.push_back(id);
    // Some ranks are faster than others, the root is the slowest. With every other seed most tasks run for
    // longer than they are said to cost, so they are late.
    double const cost = (s.seed % 2 == 0 ? 0.01 : 0.001) * (rank % 3 == 0 ? 4 : rank % 3);
    auto const next = throws || part || s.thorough ? 0 : below(s.most_at_once + 1);
    n.member.measured(static_cast<double>(good), cost * static_cast<double>(good));
    tell_member(rank, throws || part ? nullptr : &on, &member::finished, front, next);
  }
  bool left = part;
  if (throws) {
    failed_ = true;
    auto const id = rest.first;
    rest.take_front(1);
    left = s.on_error.goes_on() && !rest.empty();
    if (s.on_error.goes_on())
      tell_member(rank, nullptr, &member::threw, id, "it throws");
    else
      tell_member(rank, nullptr, &member::failed, id, "it throws", rest);
  }
  if (left && n.draining)
    tell_member(rank, nullptr, &member::finished, rest, 0U);
  else if (left)
    on = rest;
  if (s.heavy_every == 0) return;
  n.member.room();
  n.rested = false;
  admit(rank, on);
}

// As the engine does before each task: here only before the first one of a range.
void world::admit(int rank, thread& on) {
  auto const& s = *scenario_;
  auto& n = at(rank);
  auto const runs_heavy = [&](thread const& t) { return &t != &on && t && heavy(t->first); };
  while (on && heavy(on->first) && !n.draining && !n.ended) {
    auto const id = on->first;
    bool const late = s.late_from && id >= *s.late_from;
    bool const never = late || rank == s.small_rank;
    if (!never && std::ranges::none_of(n.threads, runs_heavy)) return;
    on->take_front(1);
    if (on->empty()) on.reset();
    if (never) {
      failed_ = failed_ || !late;
      tell_member(rank, nullptr, &member::refused, farm::refused{id, 0, 2, 1, late ? "late" : ""});
      continue;
    }
    if (s.stream && rank != 0) n.payloads.push_back(id);
    tell_member(rank, nullptr, &member::put_aside, id);
  }
}

// This task kills the rank. Its last messages to the root may be lost.
void world::take_poison(int rank, task_id id) {
  auto const& s = *scenario_;
  if (rank == 0) {
    require(!root_role_.book().losses.suspects().blames(id),
            fmt::format("the root runs task {}, which is to blame for losses", id));
    bool others = false;
    for (int r = 1; r < s.ranks; ++r) others = others || (at(r).alive && !lost_[wire(0, r)]);
    require(
        !others || s.policy.copies || suspicions_ > 0 || !root_role_.book().losses.suspects().contains(id),
        fmt::format("the root runs task {}, which is suspected, while others could", id));
    root_poisoned_ = true;
    at(0).failure = "poisoned";
    for (auto& n : nodes_) n.ended = true;
    return;
  }
  for (; s.last_words && deliverable(rank, 0); deliver_own()) deliver(rank, 0);
  die(rank, s.last_words || s.thorough ? ~0ULL : below(4));
  // The first loss may show nothing and the second may be ambiguous; several threads cost one more.
  auto const killed = tasks_[id].ran_at_death;
  require(!s.last_words || s.policy.copies || suspicions_ > 0 ||
              killed <= std::max(2U, s.most_losses) + (s.threads > 1 ? 2 : 1),
          fmt::format("task {} kills {} ranks and is not named", id, killed));
}

// Includes finished tasks whose results are in flight: the root cannot tell them from running ones.
void world::dies(int rank) {
  std::set<task_id> ran;
  auto const mark = [&](range_list const& ranges) {
    for (task_id const id : ids_of(ranges)) ran.insert(id);
  };
  for (auto const& t : at(rank).threads)
    if (t) mark({*t});
  for (auto const& p : under_way(rank, 0))
    if (auto const* const r = std::get_if<farm::results>(&p.what)) mark(r->ranges);
  for (task_id const id : ran) ++tasks_.at(id).ran_at_death;
}

// --- the source and the sink

void world::supply() {
  auto const& s = *scenario_;
  if (s.source_fails_at && supplied_ >= *s.source_fails_at) {
    source_failed_ = source_ended_ = true;
    return call_roll(&role::roll_call::close, role::outcome{.how = status::source_failed, .text = "no more"});
  }
  supplied_ = std::min(s.tasks, supplied_ + (s.thorough ? 1 : below(5)));
  source_ended_ = supplied_ == s.tasks && (s.thorough || below(2) == 0);
  tell_root_role(&root_role::supplied, supplied_, source_ended_);
}

void world::sink() {
  auto const& s = *scenario_;
  if (roll_.stopping()) return sink_.queue.clear();  // as the engine does
  sink_.take(s.thorough ? s.tasks : 1 + below(8));
  if (sink_.bad)
    call_roll(&role::roll_call::close,
              role::outcome{.how = status::sink_failed, .task = *sink_.bad, .text = "disk full"});
  auto const count = faults_ != nullptr ? faults_->sunk(sink_.received) : sink_.received;
  tell_root_role(&root_role::sunk, count, sink_.next);
  if (s.holds_back && below(4) == 0) tell_root_role(&root_role::hold_back, below(2) == 0);
  if (s.steered && supplied_ > 0 && below(3) == 0) cancel(below(supplied_));
}

// As the engine does. The result may come all the same.
void world::cancel(task_id id) {
  deliver_own();
  if (root_role_.tasks().recorded().contains(id) || roll_.stopping()) return;
  ++tasks_.at(id).left_out;
  sink_.leave_out(id);
  tell_root_role(&root_role::cancel, id);
}

// --- invariants

void world::check() const {
  auto const& s = *scenario_;
  if (s.window == 0 || !s.calm() || s.other_call) return;
  // In task order, restored results wait for others; otherwise the sink receives them first.
  auto const restored = s.ordered ? 0 : std::min<std::uint64_t>(sink_.received, s.restored.size());
  auto const done = sink_.received - restored + root_role_.book().tasks.left_out();
  require(
      root_role_.book().dealer.given() <= done + s.window,
      fmt::format("{} tasks are open, the window is {}", root_role_.book().dealer.given() - done, s.window));
}

bool world::blamed() const {
  auto const& how = at(0).how;
  return how && how->how == role::outcome::status::task_failed && !fails(how->task, how->rank);
}

bool world::may_blame(role::outcome const& how) const {
  if (scenario_->small_rank && heavy(how.task) && !fails(how.task, how.rank))
    require(!scenario_->calm() || scenario_->computing() == 1, "no rank has room for a task, but one has");
  else if (fails(how.task, how.rank))
    require(!survives_a_bad_rank(how), "the run fails though another rank could run the task");
  else if (scenario_->audit > 0)
    require(may_be_unsettled(), "a difference is not settled");
  else
    check_blame(how);
  return blamed() || failed_;
}

// If only tasks kill ranks and all their messages arrive, the blamed task is one of these. Otherwise dead or
// suspected ranks ran it, all but the first of them for certain.
void world::check_blame(role::outcome const& how) const {
  auto const& s = *scenario_;
  require(s.most_losses > 0, "a task is blamed though it may kill any number of ranks");
  require(!s.last_words || s.deaths > 0 || s.suspicions > 0 || is_poison(how.task),
          fmt::format("task {} is innocent", how.task));
  auto const ran = tasks_.at(how.task).ran_at_death + static_cast<unsigned>(suspicions_);
  auto const counts = s.from_outside && s.suspicions == 0 ? 2U : 1U;  // that many losses from outside as one
  require(ran >= counts * std::max(1U, s.most_losses - 1),
          fmt::format("task {} is blamed, but ran on {} lost ranks", how.task, ran));
}

// Whether only one rank fails and another one could run its tasks.
bool world::survives_a_bad_rank(role::outcome const& how) const {
  auto const& s = *scenario_;
  return s.failing_rank && s.on_error.elsewhere && s.on_error.times > 1 && s.calm() && s.computing() > 1 &&
         !s.policy.copies && how.handed_out_again == 0;
}

// Whether the ranks may disagree without a third one that settles it.
bool world::may_be_unsettled() const {
  auto const& s = *scenario_;
  return s.liar && (s.computing() < 3 || !s.calm_but_for_the_liar() || s.failing_from || s.failing_rank);
}

// If all tasks are audited, or the liar is found, none of its results is in the sink, or all of them are
// named.
void world::check_audits() const {
  auto const& s = *scenario_;
  auto const& audits = root_role_.audits();
  std::set<task_id> named;
  for (auto const& f : audits.faults()) {
    require(!s.audit_holds || count_tasks(f.released) <= audits.unchecked(),
            "results are in the sink that had to wait");
    for (task_id const id : ids_of(f.released)) named.insert(id);
  }
  bool const all = s.audit >= 1 && audits.unchecked() == 0;
  if (audits.faults().empty() && !all) return;
  for (task_id id = 0; id < s.tasks; ++id)
    require(!tasks_[id].wrong || named.contains(id),
            fmt::format("the sink has a wrong result of task {}", id));
}

bool world::may_end_so(role::outcome const& how) const {
  return how.how == role::outcome::status::source_failed ? source_failed_
         : how.how == role::outcome::status::sink_failed ? sink_.bad.has_value()
                                                         : false;
}

void world::check_done() const {
  auto const& s = *scenario_;
  std::uint64_t left_out = 0;
  for (auto const& t : tasks_) {
    left_out += t.left_out;
    require(t.recorded + t.left_out == 1, "a task is not recorded");
  }
  check_audits();
  require(sink_.received == s.tasks - left_out, "the sink lacks results");
  require(left_out == 0 || !survives_a_bad_rank(*at(0).how),
          "a task is left out though another rank could run it");
}

void world::check_end() const {
  peer_world::check_end();
  auto const& s = *scenario_;
  if (s.other_call)
    for (auto const& n : nodes_)
      require(!n.alive || !n.failure.empty() || deaths_ > 0, "a call that differs is not noticed");
  if (root_poisoned_ || s.other_call) return;
  auto const& how = *at(0).how;
  require(how.tasks == sink_.received, "the outcome and the sink count different results");
  // On the ring, tasks of a slow theft are given again if nothing else makes progress, which does no harm.
  if (s.calm() && s.policy.more != skel::schedule::more_from::ring &&
      s.policy.more != skel::schedule::more_from::root_then_ranks)
    require(how.handed_out_again == 0, "tasks are handed out again though no rank was lost");
}

void world::add_to(role::digest& d) const {
  d.add(root_role_);
  for (auto const& t : tasks_)
    d.add(t.recorded).add(t.left_out).add(t.forgotten).add(t.wrong).add(t.ran_at_death);
  for (auto const& w : waiting_) {
    for (task_id const id : w) d.add(id);
    d.add(w.size());
  }
  sink_.add_to(d);
  d.add(supplied_).add(source_ended_).add(source_failed_).add(asked_to_stop_).add(root_poisoned_);
}

}  // namespace farm_harness
