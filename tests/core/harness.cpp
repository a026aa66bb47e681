#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "skel/protocol/bytes.hpp"
#include "skel/schedule/deal.hpp"

namespace harness {

using protocol::message;
using protocol::message_kind;
using kind = event::kind;

namespace {

constexpr std::uint64_t call_hash = 42;

void require(bool holds, std::string const& text) {
  if (!holds) throw violation(text);
}

std::vector<task_id> ids_of(range_list const& ranges) {
  std::vector<task_id> ids;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) ids.push_back(r[i]);
  return ids;
}

bool for_ledger(message_kind k) {
  switch (k) {
    case message_kind::hello:
    case message_kind::ask:
    case message_kind::results:
    case message_kind::failed:
    case message_kind::stock:
    case message_kind::please_stop:
    case message_kind::stopped:
      return true;
    default:
      return false;
  }
}

bool carries_tasks(message_kind k) { return k == message_kind::grant || k == message_kind::give; }

// Every message goes through the codec that the wires use.
message through_codec(message const& m) {
  std::vector<std::byte> bytes;
  protocol::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto const read = protocol::decode(rest);
  require(read == m && rest.empty(), fmt::format("a {} message is not read as written", to_string(m.kind)));
  return read;
}

}  // namespace

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
  state_.early.resize(s.tasks);
  if (!s.stream) {
    state_.supplied = s.tasks;
    state_.source_ended = true;
  }
  protocol::ledger_config l;
  std::vector<int> workers;
  for (int r = 0; r < s.ranks; ++r) {
    l.ranks.push_back(r);
    if (r != 0 || !s.root_serves || s.ranks == 1) workers.push_back(r);
  }
  auto const ring = std::make_shared<std::vector<int> const>(workers);
  for (int r = 0; r < s.ranks; ++r) {
    protocol::worker_config w;
    w.self = r;
    w.call_hash = s.other_call == r ? call_hash + 1 : call_hash;
    w.threads = s.threads;
    w.asks = skel::asks_root(s.policy);
    if (s.policy.more == skel::more_from::ring && workers.size() > 1) w.ring = ring;
    w.take = s.policy.take;
    w.order = s.policy.order;
    w.copies = s.policy.copies;
    w.results = s.results;
    w.threshold = s.policy.threshold;
    w.early = s.policy.early;
    auto const at = std::find(workers.begin(), workers.end(), r);
    w.computes = at != workers.end();
    if (w.computes && s.policy.power.empty()) w.power = 1.0 + r % 3;
    auto const index = static_cast<int>(at - workers.begin());
    auto const count = static_cast<int>(workers.size());
    if (w.computes && s.policy.start == skel::start_with::contiguous)
      w.share = {skel::contiguous_share(s.tasks, count, index)};
    if (w.computes && s.policy.start == skel::start_with::interleaved)
      w.share = {skel::interleaved_share(s.tasks, count, index)};
    node one;
    one.threads.resize(static_cast<std::size_t>(w.computes ? s.threads : 1));
    one.worker = protocol::worker(std::move(w));
    state_.nodes.push_back(std::move(one));
  }
  l.workers = workers;
  if (!s.stream) l.tasks = s.tasks;
  l.policy = s.policy;
  l.results = s.results;
  l.ordered = s.ordered;
  l.merged = s.merged;
  l.window = s.window;
  l.first_grant = s.first_grant;
  l.call_hash = call_hash;
  state_.ledger = protocol::ledger(std::move(l));
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
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
      protocol::actions list;
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
      protocol::actions list;
      state_.ledger.source_failed("no more", list);
      perform(0, true, list);
      break;
    }
    case kind::stop_early: {
      state_.asked_to_stop = true;
      protocol::actions list;
      state_.ledger.stop_early(list);
      perform(0, true, list);
      break;
    }
    case kind::hold_back: {
      protocol::actions list;
      state_.ledger.hold_back(e.n == 1, list);
      perform(0, true, list);
      break;
    }
    case kind::please_stop: {
      state_.asked_to_stop = true;
      at(e.a).stop_asked = true;
      protocol::actions list;
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
  protocol::actions list;
  if (rank == 0) {
    state_.ledger.begin(list);
    perform(0, true, list);
  }
  at(rank).worker.begin(list);
  perform(rank, false, list);
}

bool world::deliverable(int from, int to) const {
  if (state_.wires[wire(from, to)].empty() || !at(to).begun || !at(to).alive) return false;
  // What the root has for a suspect waits until the suspect shows that it lives.
  return !(from == 0 && state_.suspected[static_cast<std::size_t>(to)]);
}

void world::deliver(event const& e) {
  auto& w = state_.wires[wire(e.a, e.b)];
  auto p = std::move(w.front());
  w.erase(w.begin());
  if (e.n == 1) w.insert(w.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(w.size(), e.more)), p);
  if (e.b == 0) state_.suspected[static_cast<std::size_t>(e.a)] = false;  // whoever speaks lives
  auto& newest = state_.received[wire(e.a, e.b)];
  if (p.sequence <= newest) return;
  newest = p.sequence;
  receive(e.a, e.b, std::move(p));
}

void world::receive(int from, int to, packet p) {
  auto& n = at(to);
  // The run is closed on this rank. On a wire that loses messages the root must stay and say the end again.
  if (n.ended && (to != 0 || from == 0 || scenario_->lost_in == 0)) return;
  if (fault_ != nullptr && !fault_->receives(*this, from, to, p.what)) return;
  protocol::actions list;
  if (to == 0 && (for_ledger(p.what.kind) || (p.what.kind == message_kind::abort && from != 0))) {
    bool const was_stopping = state_.ledger.stopping();
    accepted_.clear();
    state_.ledger.on(from, p.what, list);
    bool const keep = std::exchange(delivering_, p.what.kind == message_kind::results);
    perform(0, true, list);
    delivering_ = keep;
    if (!accepted_.empty()) {
      auto const accepted = std::exchange(accepted_, {});
      take_results(p, accepted, was_stopping);
    }
    return;
  }
  if (p.what.kind == message_kind::stop) {
    n.draining = true;
    n.held.clear();
    n.payloads.clear();
  }
  if (p.what.kind == message_kind::give && to == 0) p.what.ranges = state_.ledger.not_recorded(p.what.ranges);
  if (carries_tasks(p.what.kind) && scenario_->stream && to != 0)
    n.payloads.insert(n.payloads.end(), p.content.begin(), p.content.end());
  n.worker.on(from, p.what, list);
  perform(to, false, list);
}

// Results are given to the sink as the ledger has decided: each task's once, a merged value whole or not at
// all.
void world::take_results(packet const& p, range_list const& accepted, bool was_stopping) {
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
  state_.sink_queue.push_back(ids);
}

void world::idle(event const& e) {
  auto& n = at(e.a);
  auto& t = n.threads[static_cast<std::size_t>(e.b)];
  require(!t.todo, "a busy thread asks for work");
  n.rested = true;
  protocol::actions list;
  n.worker.idle(e.n, list);
  perform(e.a, false, list, &t);
}

void world::start_thread(int rank, thread& t, task_range const& range) {
  auto& n = at(rank);
  require(!t.todo, "a thread gets two ranges");
  require(!n.ended, "a task is started after the end");
  require(!range.empty() && range.last() < scenario_->tasks, "a range without tasks is run");
  t.todo = range;
  if (!scenario_->stream) return;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    if (rank == 0) {
      require(!state_.forgotten[range[i]],
              fmt::format("the root runs task {}, which is forgotten", range[i]));
      continue;
    }
    auto const mine = std::find(n.payloads.begin(), n.payloads.end(), range[i]);
    require(mine != n.payloads.end(), fmt::format("rank {} runs task {} without having it", rank, range[i]));
    n.payloads.erase(mine);
  }
}

bool world::fails(task_id id) const {
  auto const& s = *scenario_;
  return s.failing_from && id >= *s.failing_from && (id - *s.failing_from) % s.failing_every == 0;
}

void world::finish(event const& e) {
  auto& n = at(e.a);
  auto& t = n.threads[static_cast<std::size_t>(e.b)];
  require(t.todo.has_value(), "a thread without tasks finishes some");
  task_range rest = *t.todo;
  std::uint64_t good = 0;
  while (good < e.n && !fails(rest[good])) ++good;
  bool const throws = good < e.n;
  auto const front = rest.take_front(good);
  bool const part = !throws && !rest.empty();
  t.todo.reset();
  protocol::actions list;
  if (!front.empty()) {
    if (!n.draining)
      for (std::uint64_t i = 0; i < front.count; ++i) n.held.push_back(front[i]);
    n.worker.finished(front, throws || part ? 0 : e.more, list);
    perform(e.a, false, list, throws || part ? nullptr : &t);
  }
  if (throws) {
    state_.task_failed = true;
    n.failed = true;
    auto const id = rest.first;
    rest.take_front(1);
    n.worker.failed(id, "it throws", rest, list);
    n.draining = true;
  } else if (part && n.draining) {
    n.worker.finished(rest, 0, list);
  } else if (part) {
    t.todo = rest;
  }
  perform(e.a, false, list);
}

void world::tick(int rank) {
  if (rank == everybody) {
    for (int r = 0; r < scenario_->ranks; ++r)
      if (at(r).alive && at(r).begun && !at(r).ended) tick(r);
    return;
  }
  ++state_.ticks;
  protocol::actions list;
  if (rank == 0) {
    for (int r = 1; r < scenario_->ranks; ++r) {
      if (!lost(r)) continue;
      state_.ledger.lost(r, list);
      perform(0, true, list);
    }
    state_.ledger.tick(list);
    perform(0, true, list);
  }
  // The root tells the others whom it has lost; they hear of it late.
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

void world::suspect(int rank) {
  state_.suspected[static_cast<std::size_t>(rank)] = true;
  ++state_.suspicions;
  protocol::actions list;
  state_.ledger.lost(rank, list);
  perform(0, true, list);
}

void world::supply(event const& e) {
  state_.supplied = std::min(scenario_->tasks, state_.supplied + e.n);
  state_.source_ended = state_.source_ended || (e.more == 1 && state_.supplied == scenario_->tasks);
  protocol::actions list;
  state_.ledger.supplied(state_.supplied, state_.source_ended, list);
  perform(0, true, list);
}

void world::sink(std::uint64_t most) {
  if (state_.ledger.stopping()) {  // as the engine does: what waits is dropped
    state_.sink_queue.clear();
    return;
  }
  auto& queue = state_.sink_queue;
  std::optional<task_id> bad;
  auto const give = [&](task_id id) {
    if (scenario_->sink_fails_at == state_.sunk) bad = id;
    if (!bad) ++state_.sunk;
  };
  std::uint64_t entries = 0;
  for (; entries < queue.size() && entries < most && !bad; ++entries)
    for (task_id id : queue[entries]) {
      if (bad) break;
      if (scenario_->ordered)
        state_.early[id] = true;
      else
        give(id);
    }
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(entries));
  while (scenario_->ordered && !bad && state_.sunk < scenario_->tasks && state_.early[state_.sunk])
    give(state_.sunk);
  protocol::actions list;
  if (bad) {
    state_.sink_failed = true;
    state_.ledger.sink_failed(*bad, "disk full", list);
  }
  auto const count = fault_ != nullptr ? fault_->sunk(state_.sunk) : state_.sunk;
  state_.ledger.sunk(count, scenario_->ordered ? count : 0, list);
  perform(0, true, list);
}

// --- actions

void world::perform(int rank, bool from_ledger, protocol::actions& list, thread* t) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, from_ledger, list);
  for (auto& a : list) {
    if (auto* const s = std::get_if<protocol::send>(&a)) {
      require(from_ledger || !n.ended,
              fmt::format("rank {} says {} after its end", rank, to_string(s->what.kind)));
      send(rank, s->to, std::move(s->what));
    } else if (auto* const x = std::get_if<protocol::execute>(&a)) {
      require(t != nullptr, "a range is run where no thread is free");
      start_thread(rank, *t, x->range);
    } else if (auto* const r = std::get_if<protocol::record>(&a)) {
      require(delivering_, "a task is recorded that no message brought");
      accepted_.push_back(r->range);
    } else if (auto* const f = std::get_if<protocol::forget>(&a)) {
      for (task_id id : ids_of({f->range})) state_.forgotten.at(id) = 1;
      if (state_.ledger.handed_out_again() > 0 || scenario_->policy.copies)
        at(0).worker.drop(f->range);  // as the engine does
    } else if (auto* const end = std::get_if<protocol::end>(&a)) {
      require(!n.ended, fmt::format("rank {} ends twice", rank));
      n.ended = true;
      n.outcome = end->how;
    } else {
      require(scenario_->other_call.has_value(), "the run fails: " + std::get<protocol::fail>(a).text);
      n.ended = true;
      n.outcome.text = "failed";
    }
  }
  list.clear();
}

void world::send(int from, int to, message m) {
  auto& n = at(from);
  packet p;
  if (m.kind == message_kind::results) {
    p.content = std::exchange(n.held, {});
    require(p.content == ids_of(m.ranges), fmt::format("rank {} says other results than it sends", from));
  } else if (m.kind == message_kind::grant) {
    p.content = ids_of(m.ranges);
    for (task_id id : p.content) {
      require(id < state_.supplied, fmt::format("task {} is given before it exists", id));
      require(!scenario_->stream || !state_.forgotten[id],
              fmt::format("task {} is given, but forgotten", id));
    }
    require(!state_.ledger.stopping(), "tasks are given after stop");
  } else if (m.kind == message_kind::give) {
    p.content = ids_of(m.ranges);
    require(!p.content.empty(), "a victim gives nothing");
    for (task_id id : p.content) {
      require(id < scenario_->tasks, fmt::format("task {} does not exist", id));
      if (!scenario_->stream) continue;
      if (from == 0) {
        require(!state_.forgotten[id], fmt::format("task {} is given, but forgotten", id));
        continue;
      }
      auto const mine = std::find(n.payloads.begin(), n.payloads.end(), id);
      require(mine != n.payloads.end(), fmt::format("rank {} gives task {} without having it", from, id));
      n.payloads.erase(mine);
    }
  }
  p.what = through_codec(m);
  if (to == from) {
    state_.to_self.push_back(std::move(p));
    return;
  }
  if (!at(to).alive) return;
  p.sequence = ++state_.sent[wire(from, to)];
  if (scenario_->lost_in > 0) {
    losses_ = losses_ * 6364136223846793005U + 1442695040888963407U;
    if ((losses_ >> 33) % scenario_->lost_in == 0) return;
  }
  state_.wires[wire(from, to)].push_back(std::move(p));
}

// What the root says to itself arrives at once.
void world::drain_self() {
  std::size_t next = 0;
  while (next < state_.to_self.size()) {  // which grows meanwhile
    auto p = std::move(state_.to_self[next++]);
    receive(0, 0, std::move(p));
  }
  state_.to_self.clear();
}

void world::check_window() const {
  auto const& s = *scenario_;
  if (s.window == 0 || !s.calm() || s.other_call) return;
  auto const& l = state_.ledger;
  require(l.given() <= state_.sunk + s.window,
          fmt::format("{} tasks are open, the window is {}", l.given() - state_.sunk, s.window));
}

// --- ends

bool world::ended() const {
  return std::all_of(state_.nodes.begin(), state_.nodes.end(),
                     [](auto const& n) { return n.ended || !n.alive; });
}

void world::check_end() const {
  auto const& s = *scenario_;
  if (s.other_call) {
    for (auto const& n : state_.nodes)
      require(!n.alive || n.outcome.text == "failed" || state_.deaths > 0,
              "a call that differs is not noticed");
    return;
  }
  auto const& root = at(0).outcome;
  for (int r = 1; r < s.ranks; ++r)
    require(!at(r).alive || at(r).outcome == root,
            fmt::format("rank {} has another outcome than the root", r));
  using status = protocol::outcome::status;
  switch (root.how) {
    case status::done: {
      auto const once = [](auto n) { return n == 1; };
      require(std::all_of(state_.recorded.begin(), state_.recorded.end(), once), "a task is not recorded");
      require(!s.merged || std::all_of(state_.counted.begin(), state_.counted.end(), once),
              "a task is not merged");
      require(root.tasks == s.tasks && state_.sunk == s.tasks, "results are missing in the sink");
      break;
    }
    case status::stopped_early:
      require(state_.asked_to_stop, "nobody has asked to stop");
      break;
    case status::task_failed:
      require(state_.task_failed && fails(root.task), "no such task has failed");
      break;
    case status::sink_failed:
      require(state_.sink_failed, "the sink has not failed");
      break;
    case status::source_failed:
      require(state_.source_failed, "the source has not failed");
      break;
  }
  require(root.tasks == state_.sunk, "the outcome counts other results than the sink");
  // On the ring a theft that is under way for long while nothing else moves is dealt out again: no harm is
  // done.
  if (s.calm() && s.policy.more != skel::more_from::ring)
    require(root.handed_out_again == 0, "tasks are handed out again though nobody was lost");
}

// --- choices

bool world::may_die(int rank) const {
  if (rank == 0 || !at(rank).alive || state_.deaths >= scenario_->deaths) return false;
  return !at(rank).ended;
}

std::vector<event> world::possible(int early_ticks) const {
  std::vector<event> list;
  auto const& s = *scenario_;
  for (int r = 0; r < s.ranks; ++r) {
    auto const& n = at(r);
    if (!n.alive) {
      if (!state_.detected[static_cast<std::size_t>(r)]) list.push_back({kind::detect, r});
      continue;
    }
    if (!n.begun) list.push_back({kind::begin, r});
    if (n.begun && !n.ended)
      for (int t = 0; t < static_cast<int>(n.threads.size()); ++t) {
        auto const& todo = n.threads[static_cast<std::size_t>(t)].todo;
        if (todo) {
          list.push_back({kind::finish, r, t, todo->count, 0});
        } else {
          auto copy = n.worker;  // only where it changes something
          protocol::actions actions;
          copy.idle(s.most_at_once, actions);
          if (!(copy == n.worker) || !actions.empty()) list.push_back({kind::idle, r, t, s.most_at_once});
        }
      }
  }
  for (int from = 0; from < s.ranks; ++from)
    for (int to = 0; to < s.ranks; ++to)
      if (deliverable(from, to)) list.push_back({kind::deliver, from, to});
  if (at(0).begun && !at(0).ended) {
    if (!state_.source_ended) list.push_back({kind::supply, 0, 0, 1, 1});
    if (!state_.sink_queue.empty()) list.push_back({kind::sink, 0, 0, s.tasks});
    for (int r = 1; r < s.ranks; ++r)
      if (at(r).alive && state_.suspicions < s.suspicions && !lost(r)) list.push_back({kind::suspect, r});
    if (s.stops_early && !state_.asked_to_stop) list.push_back({kind::stop_early});
  }
  for (int r = 1; r < s.ranks; ++r)
    if (at(r).alive && state_.suspected[static_cast<std::size_t>(r)]) list.push_back({kind::heartbeat, r});
  bool const quiet = list.empty();
  require(!quiet || state_.ticks < 400, "the run is stuck");
  if (quiet) list.push_back({kind::tick, everybody});  // time passes for all alike
  if (!quiet && state_.ticks < early_ticks)
    for (int r = 0; r < s.ranks; ++r)
      if (at(r).alive && at(r).begun && !at(r).ended) list.push_back({kind::tick, r});
  for (int r = 1; r < s.ranks; ++r)
    if (may_die(r))
      for (std::size_t n = 0; n <= state_.wires[wire(r, 0)].size(); ++n) list.push_back({kind::die, r, 0, n});
  return list;
}

std::optional<event> world::random_event(std::mt19937_64& dice) const {
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return n == 0 ? 0 : dice() % n; };
  auto const rank = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
  auto const& n = at(rank);
  bool const here = n.alive && n.begun && !n.ended;
  bool const root_here = at(0).begun && !at(0).ended;
  auto const index = n.threads.empty() ? 0 : static_cast<int>(below(n.threads.size()));
  switch (below(32)) {
    case 0:
      if (here && s.ticks && below(4) == 0) return event{kind::tick, rank};
      break;
    case 1:
      if (root_here && !state_.source_ended) return event{kind::supply, 0, 0, below(5), below(2)};
      break;
    case 2:
      if (s.source_fails_at && !state_.source_failed && state_.supplied >= *s.source_fails_at && root_here)
        return event{kind::source_fails};
      break;
    case 3:
      if (s.holds_back && root_here && below(4) == 0) return event{kind::hold_back, 0, 0, below(2)};
      [[fallthrough]];
    case 4:
      if (!state_.sink_queue.empty() && root_here) return event{kind::sink, 0, 0, 1 + below(4)};
      break;
    case 5:
      if (may_die(rank) && below(8) == 0)
        return event{kind::die, rank, 0, below(state_.wires[wire(rank, 0)].size() + 1)};
      break;
    case 6:
      if (!n.alive && !state_.detected[static_cast<std::size_t>(rank)] && root_here)
        return event{kind::detect, rank};
      if (n.alive && state_.suspected[static_cast<std::size_t>(rank)]) return event{kind::heartbeat, rank};
      break;
    case 7:
      if (rank != 0 && n.alive && root_here && state_.suspicions < s.suspicions && !lost(rank) &&
          below(4) == 0)
        return event{kind::suspect, rank};
      break;
    case 8:
      if (s.stops_early && below(16) == 0 && here) {
        if (rank == 0) return event{kind::stop_early};
        if (!n.stop_asked) return event{kind::please_stop, rank};
      }
      break;
    case 9:
      if (n.alive && !n.begun && (rank < s.ranks - s.late || below(32) == 0)) return event{kind::begin, rank};
      break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
      if (here && !n.threads.empty()) {
        auto const& t = n.threads[static_cast<std::size_t>(index)];
        if (!t.todo && !n.rested) return event{kind::idle, rank, index, 1 + below(s.most_at_once)};
      }
      break;
    case 15:
    case 16:
    case 17:
      if (here && !n.threads.empty()) {
        auto const& t = n.threads[static_cast<std::size_t>(index)];
        if (t.todo)
          return event{kind::finish, rank, index, below(3) == 0 ? 1 + below(t.todo->count) : t.todo->count,
                       below(s.most_at_once + 1)};
      }
      break;
    default: {
      auto const from = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
      for (int i = 0; i < s.ranks; ++i) {
        int const f = (from + i) % s.ranks;
        if (!deliverable(f, rank)) continue;
        bool const again = s.duplicated_in > 0 && below(s.duplicated_in) == 0;
        return event{kind::deliver, f, rank, again ? 1U : 0U, again ? below(4) : 0};
      }
    }
  }
  return std::nullopt;
}

bool world::step(std::mt19937_64& dice) {
  auto const e = random_event(dice);
  if (e) apply(*e);
  return e.has_value();
}

// Everything that needs no time to pass.
void world::work_off(std::mt19937_64& dice) {
  auto const& s = *scenario_;
  for (bool moved = true; moved && !ended();) {
    moved = false;
    for (int r = 0; r < s.ranks; ++r) {
      for (int from = 0; from < s.ranks; ++from)
        while (deliverable(from, r)) apply({kind::deliver, from, r}), moved = true;
      auto& n = at(r);
      if (!n.alive) continue;
      for (int t = 0; t < static_cast<int>(n.threads.size()); ++t) {
        auto& todo = n.threads[static_cast<std::size_t>(t)].todo;
        if (n.ended) break;
        if (!todo && !n.rested) apply({kind::idle, r, t, 1 + dice() % s.most_at_once});
        if (todo) apply({kind::finish, r, t, todo->count, dice() % 2}), moved = true;
      }
    }
    if (!at(0).ended && !state_.source_ended) {
      if (s.source_fails_at && !state_.source_failed)
        apply({kind::source_fails});
      else
        apply({kind::supply, 0, 0, s.tasks, 1});
      moved = true;
    }
    if (!state_.sink_queue.empty()) apply({kind::sink, 0, 0, s.tasks}), moved = true;
  }
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_ticks = 400;
  auto const& s = *scenario_;
  for (int r = 0; r < s.ranks; ++r)
    if (at(r).alive && !at(r).begun) apply({kind::begin, r});
  for (int r = 1; r < s.ranks; ++r) {
    if (!at(r).alive && !state_.detected[static_cast<std::size_t>(r)]) apply({kind::detect, r});
    if (at(r).alive && state_.suspected[static_cast<std::size_t>(r)]) apply({kind::heartbeat, r});
  }
  for (int round = 0; round < most_ticks; ++round) {
    work_off(dice);
    if (ended()) return;
    require(s.ticks, "the run does not end without a tick");
    for (int r = 0; r < s.ranks; ++r)
      if (at(r).alive && !at(r).ended) apply({kind::tick, r});
  }
  std::string text =
      fmt::format("the run is stuck: {} of {} recorded, {} sunk, {} in the pool{}", state_.ledger.recorded(),
                  s.tasks, state_.sunk, state_.ledger.pooled(), state_.ledger.stopping() ? ", stopping" : "");
  for (int r = 0; r < s.ranks; ++r)
    text += fmt::format("; rank {}: {}", r,
                        !at(r).alive ? "dead"
                        : at(r).ended
                            ? "ended"
                            : fmt::format("{} queued, {} unsent{}", at(r).worker.queued(),
                                          at(r).worker.unsent(), at(r).worker.waiting() ? ", waiting" : ""));
  throw violation(text);
}

}  // namespace harness
