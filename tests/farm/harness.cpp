#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "role/deal.hpp"

namespace harness {

using kind = event::kind;

namespace {

constexpr std::uint64_t call_hash = 42;

}  // namespace

std::vector<task_id> ids_of(range_list const& ranges) {
  std::vector<task_id> ids;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) ids.push_back(r[i]);
  return ids;
}

world::world(scenario const& s, fault* f)
    : scenario_(std::make_shared<scenario const>(s)), fault_(f), losses_(s.seed * 2 + 1) {
  auto const n = static_cast<std::size_t>(s.ranks);
  state_.wires.resize(n * n);
  state_.sent.resize(n * n);
  state_.received.resize(n * n);
  state_.suspected.resize(n);
  state_.detected.resize(n);
  state_.recorded.resize(s.tasks);
  state_.counted.resize(s.tasks);
  state_.forgotten.resize(s.tasks);
  state_.left_out.resize(s.tasks);
  state_.early.resize(s.tasks);
  state_.waiting.resize(n);
  state_.wrong.resize(s.tasks);
  state_.ran_at_death.resize(s.tasks);
  if (!s.stream) {
    state_.supplied = s.tasks;
    state_.source_ended = true;
  }
  role::farm_ledger_config l;
  l.ranks = s.ranks;
  l.first_worker = s.root_serves && s.ranks > 1 ? 1 : 0;
  skel::task_costs costs;
  std::uint64_t const costly = s.costly ? s.tasks / 3 : 0;
  if (s.costly) {
    std::vector<double> each;
    for (auto left = static_cast<double>(s.tasks); left > 0; --left) each.push_back(left * left);
    costs = skel::task_costs(each);
  }
  for (int r = 0; r < s.ranks; ++r) {
    role::farm_worker_config w;
    w.self = r;
    w.call_hash = s.other_call == r ? call_hash + 1 : call_hash;
    w.threads = s.threads;
    w.costly = costly;
    w.asks = skel::asks_root(s.policy);
    w.ring.directed = s.policy.more == skel::more_from::root_then_ranks;
    if ((s.policy.more == skel::more_from::ring || w.ring.directed) && l.workers() > 1)
      w.ring.ranks = s.ranks;
    w.ring.first = l.first_worker;
    if (w.ring.directed && s.seed % 2 == 0) w.interval = 0.04;  // of work: one to four tasks
    w.ring.take = s.policy.take;
    w.ring.give = s.policy.give;
    w.ring.order = s.policy.order;
    w.ring.copies = s.policy.copies;
    w.results = s.results;
    w.send_after_ticks = s.send_after_ticks;
    w.threshold = s.policy.threshold;
    w.early = s.policy.early;
    w.computes = r >= l.first_worker;
    if (w.computes && s.policy.power.empty()) w.power = 1.0 + r % 3;
    if (w.computes && !s.resumed)
      w.share = skel::known_share(s.policy, s.tasks, l.workers(), r - l.first_worker, costs);
    node one;
    one.threads.resize(static_cast<std::size_t>(w.computes ? s.threads : 1));
    one.worker = role::farm_worker(std::move(w));
    state_.nodes.push_back(std::move(one));
  }
  if (!s.stream) l.tasks = s.tasks;
  l.costs = costs;
  l.costly = costly;
  l.policy = s.policy;
  l.ordered = s.ordered;
  l.merged = s.merged;
  l.window = s.window;
  l.first_grant = s.first_grant;
  l.call_hash = call_hash;
  l.resumed = s.resumed;
  l.most_losses = s.most_losses;
  l.on_error = s.on_error;
  l.audit = s.audit;
  l.audit_holds = s.audit_holds;
  for (task_id id : s.restored) append(l.restored, {id, 1, 1});
  state_.ledger = role::farm_ledger(std::move(l));
  if (s.seed % 3 == 0) state_.ledger.message_cost(0.005 * static_cast<double>(s.seed % 4));
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  was_stopping_ = state_.ledger.stopping();
  if (scenario_->timed) state_.ledger.at(state_.seconds += 1e-3);
  switch (e.what) {
    case kind::begin:
      begin(e.a);
      break;
    case kind::deliver:
      deliver(e);
      break;
    case kind::idle:
      idle(e);
      break;
    case kind::finish:
      finish(e);
      break;
    case kind::tick:
      tick(e.a);
      break;
    case kind::die:
      die(e);
      break;
    case kind::detect: {
      state_.detected[static_cast<std::size_t>(e.a)] = true;
      role::farm_actions list;
      if (scenario_->from_outside) state_.ledger.from_outside(e.a);
      state_.ledger.lost(e.a, list);
      perform(0, true, list);
      at(0).worker.lost(e.a, list);
      perform(0, false, list);
      break;
    }
    case kind::suspect:
      suspect(e.a);
      break;
    case kind::heartbeat:
      state_.suspected[static_cast<std::size_t>(e.a)] = false;
      break;
    case kind::supply:
      supply(e);
      break;
    case kind::sink:
      sink(e.n);
      break;
    case kind::source_fails: {
      state_.source_failed = true;
      state_.source_ended = true;
      role::farm_actions list;
      state_.ledger.source_failed("no more", list);
      perform(0, true, list);
      break;
    }
    case kind::stop_early: {
      state_.asked_to_stop = true;
      role::farm_actions list;
      state_.ledger.stop_early(list);
      perform(0, true, list);
      break;
    }
    case kind::hold_back: {
      role::farm_actions list;
      state_.ledger.hold_back(e.n == 1, list);
      perform(0, true, list);
      break;
    }
    case kind::please_stop: {
      state_.asked_to_stop = true;
      at(e.a).stop_asked = true;
      role::farm_actions list;
      at(e.a).worker.please_stop(list);
      perform(e.a, false, list);
      break;
    }
  }
  drain_self();
  check_window();
  for (auto& n : state_.nodes)
    if (e.what != kind::idle) n.rested = false;
}

void world::begin(int rank) {
  at(rank).begun = true;
  role::farm_actions list;
  if (rank == 0) {
    restore();
    state_.ledger.begin(list);
    perform(0, true, list);
  }
  at(rank).worker.begin(list);
  perform(rank, false, list);
}

// Results of an earlier run go to the sink first.
void world::restore() {
  if (scenario_->restored.empty()) return;
  for (task_id id : scenario_->restored) {
    ++state_.recorded.at(id);
    ++state_.counted.at(id);
  }
  state_.sink_queue.push_back(scenario_->restored);
}

bool world::deliverable(int from, int to) const {
  if (state_.wires[wire(from, to)].empty() || !at(to).begun || !at(to).alive) return false;
  // The root's messages to a suspect wait until the suspect shows that it lives.
  return !(from == 0 && state_.suspected[static_cast<std::size_t>(to)]);
}

void world::deliver(event const& e) {
  auto& w = state_.wires[wire(e.a, e.b)];
  auto p = std::move(w.front());
  w.erase(w.begin());
  if (e.n == 1) w.insert(w.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(w.size(), e.more)), p);
  if (e.b == 0) state_.suspected[static_cast<std::size_t>(e.a)] = false;  // a rank that speaks lives
  auto& newest = state_.received[wire(e.a, e.b)];
  if (p.sequence <= newest) return;
  newest = p.sequence;
  receive(e.a, e.b, std::move(p));
}

void world::receive(int from, int to, packet p) {
  auto& n = at(to);
  // The run is closed on this rank. On a lossy wire the root must stay and repeat the end.
  if (n.ended && (to != 0 || from == 0 || scenario_->lost_in == 0)) return;
  if (fault_ != nullptr && !fault_->receives(*this, from, to, p.what)) return;
  role::farm_actions list;
  if (to == 0 && for_ledger(p.what)) {
    bool const was_stopping = state_.ledger.stopping();
    accepted_.clear();
    sender_ = from;
    if (std::holds_alternative<role::farm::results>(p.what)) {
      std::vector<role::task_version> versions;
      for (task_id id : p.content)
        if (state_.ledger.compares(id)) versions.push_back({id, version(id, from)});
      state_.ledger.compared(std::move(versions));
    }
    state_.ledger.on(from, p.what, list);
    bool const keep = std::exchange(delivering_, std::holds_alternative<role::farm::results>(p.what));
    perform(0, true, list);
    delivering_ = keep;
    if (!accepted_.empty()) {
      auto const accepted = std::exchange(accepted_, {});
      take_results(from, p, accepted, was_stopping);
    }
    sink_released();
    return;
  }
  if (auto* const g = std::get_if<role::farm::give>(&p.what); g != nullptr && to == 0)
    g->ranges = state_.ledger.not_recorded(g->ranges);
  if (!given_tasks(p.what).empty() && scenario_->stream && to != 0)
    n.payloads.insert(n.payloads.end(), p.content.begin(), p.content.end());
  n.worker.on(from, p.what, list);
  perform(to, false, list);
}

// Passes results to the sink as the ledger has decided: each result once, a merged value whole or not at all.
void world::take_results(int from, packet const& p, range_list const& accepted, bool was_stopping) {
  auto const ids = ids_of(accepted);
  require(!was_stopping, "results are given to the sink after stop");
  auto in = p.content.begin();
  for (task_id id : ids) {
    require(id < state_.recorded.size(), fmt::format("task {} does not exist", id));
    in = std::find(in, p.content.end(), id);
    require(in != p.content.end(), fmt::format("task {} is recorded without its result", id));
    ++in;
    require(++state_.recorded[id] == 1, fmt::format("task {} is recorded twice", id));
  }
  if (scenario_->merged) {
    require(ids.size() == p.content.size(), "part of a merged result is recorded");
    for (task_id id : p.content)
      require(++state_.counted[id] == 1, fmt::format("task {} is merged twice", id));
  }
  if (scenario_->audit > 0) {
    auto& waiting = state_.waiting[static_cast<std::size_t>(from)];
    waiting.insert(waiting.end(), ids.begin(), ids.end());
  } else {
    state_.sink_queue.push_back(ids);
  }
}

void world::tick(int rank) {
  if (rank == everybody) {
    for (int r = 0; r < scenario_->ranks; ++r)
      if (at(r).alive && at(r).begun && !at(r).ended) tick(r);
    return;
  }
  ++state_.ticks;
  role::farm_actions list;
  if (rank == 0) {
    for (int r = 1; r < scenario_->ranks; ++r) {
      if (!lost(r)) continue;
      state_.ledger.lost(r, list);
      perform(0, true, list);
    }
    state_.ledger.tick(list);
    perform(0, true, list);
  }
  // The root announces lost ranks to the others, which hear of it late.
  for (int r = 1; r < scenario_->ranks; ++r) {
    if (r == rank || !lost(r)) continue;
    at(rank).worker.lost(r, list);
    perform(rank, false, list);
  }
  at(rank).worker.tick(list);
  perform(rank, false, list);
}

void world::die(event const& e) {
  auto& n = at(e.a);
  remember_what_it_ran(e.a);
  n.alive = false;
  ++state_.deaths;
  state_.died_at_work = state_.died_at_work || state_.ledger.recorded() < scenario_->tasks;
  auto& last_words = state_.wires[wire(e.a, 0)];
  if (e.n < last_words.size()) last_words.resize(e.n);
  for (int r = 0; r < scenario_->ranks; ++r) state_.wires[wire(r, e.a)].clear();
  n.worker = {};
  n.threads.clear();
  n.held.clear();
  n.payloads.clear();
}

// Includes finished tasks whose results are in flight: the root cannot tell them from running ones.
void world::remember_what_it_ran(int rank) {
  std::vector<bool> ran(scenario_->tasks);
  auto const mark = [&](range_list const& ranges) {
    for (task_id id : ids_of(ranges)) ran.at(id) = true;
  };
  for (auto const& t : at(rank).threads)
    if (t.todo) mark({*t.todo});
  for (auto const& p : state_.wires[wire(rank, 0)])
    if (auto const* const r = std::get_if<role::farm::results>(&p.what)) mark(r->ranges);
  for (std::size_t id = 0; id < ran.size(); ++id)
    if (ran[id]) ++state_.ran_at_death[id];
}

// This task kills the rank. Its last messages to the root may be lost.
void world::take_poison(int rank, task_id id, std::uint64_t lost_words) {
  auto const& s = *scenario_;
  if (rank != 0) {
    if (s.last_words) {
      while (deliverable(rank, 0)) deliver({event::kind::deliver, rank, 0});
      drain_self();
    }
    auto const words = state_.wires[wire(rank, 0)].size();
    die({event::kind::die, rank, 0, words - lost_words % (words + 1)});
    // The first loss may show nothing and the second may be ambiguous; several threads cost one more.
    require(!s.last_words || s.policy.copies || state_.suspicions > 0 ||
                state_.ran_at_death[id] <= std::max(2U, s.most_losses) + (s.threads > 1 ? 2 : 1),
            fmt::format("task {} kills {} ranks and is not named", id, state_.ran_at_death[id]));
    return;
  }
  require(!state_.ledger.blames(id), fmt::format("the root runs task {}, which is to blame for losses", id));
  bool others = false;
  for (int r = 1; r < s.ranks; ++r) others = others || (at(r).alive && !lost(r));
  require(!others || s.policy.copies || state_.suspicions > 0 || !state_.ledger.is_suspect(id),
          fmt::format("the root runs task {}, which is suspected, while others could", id));
  state_.root_died = true;
  at(0).ended = true;
}

void world::suspect(int rank) {
  state_.suspected[static_cast<std::size_t>(rank)] = true;
  ++state_.suspicions;
  role::farm_actions list;
  state_.ledger.lost(rank, list);
  perform(0, true, list);
}

}  // namespace harness
