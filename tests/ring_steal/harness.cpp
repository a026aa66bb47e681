#include "harness.hpp"

#include <algorithm>
#include <utility>

namespace steal_harness {

using role::peer_message_kind;
using kind = event::kind;

namespace {

constexpr std::uint64_t call_hash = 42;

}  // namespace

world::world(scenario const& s, fault* f) : scenario_(std::make_shared<scenario const>(s)), fault_(f) {
  auto const n = static_cast<std::size_t>(s.ranks);
  std::vector<std::vector<int>> children(s.parent.size());
  for (std::size_t i = 1; i < s.parent.size(); ++i)
    children[static_cast<std::size_t>(s.parent[i])].push_back(static_cast<int>(i));
  children_ = std::make_shared<std::vector<std::vector<int>> const>(std::move(children));
  wires_.resize(n * n);
  lost_.resize(n * n);
  role::stealer_config c;
  for (int r = 0; r < s.ranks; ++r) c.ranks.push_back(r);
  c.order = s.order;
  c.call_hash = call_hash;
  c.records = s.records;
  roll_ = role::roll_call(c.ranks, c.call_hash);
  for (int r = 0; r < s.ranks; ++r) {
    c.self = r;
    c.call_hash = s.other_call == r ? call_hash + 1 : call_hash;
    node one;
    one.role = role::stealer(c);
    nodes_.push_back(std::move(one));
  }
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  role::steal_actions list;
  switch (e.what) {
    case kind::begin:
      begin(e.a);
      break;
    case kind::deliver:
      deliver(e.a, e.b);
      break;
    case kind::start: {
      auto& n = at(e.a);
      auto const debt = *n.role.current();
      auto& waiting = n.debts.at(debt).waiting;
      n.running = {debt, waiting.back()};
      waiting.pop_back();
      break;
    }
    case kind::finish:
      finish(e.a);
      break;
    case kind::lend:
      at(e.a).role.spare(*at(e.a).role.current(), list);
      perform(e.a, list);
      break;
    case kind::away:
      at(e.a).role.nothing_to_spare(list);
      perform(e.a, list);
      break;
    case kind::state:
      ++statements_;
      at(e.a).role.state(e.n, list);
      perform(e.a, list);
      break;
    case kind::retry:
      at(e.a).role.retry(list);
      perform(e.a, list);
      break;
    case kind::tick:
      tick(e.a);
      break;
    case kind::die:
      die(e.a, e.n);
      break;
    case kind::detect:
    case kind::suspect:
      if (e.what == kind::suspect) ++suspicions_;
      lose(e.a, e.b);
      break;
    case kind::heartbeat:
      lost_[wire(e.a, e.b)] = false;
      break;
    case kind::stop:
      asked_to_stop_ = true;
      at(e.a).role.please_stop(list);
      perform(e.a, list);
      break;
  }
  if (e.what != kind::die) follow_up(e.a);
  if (e.what == kind::deliver) follow_up(e.b);
}

void world::begin(int rank) {
  auto& n = at(rank);
  n.begun = true;
  if (rank == 0) n.debts[0] = {{0}, none()};
  role::steal_actions list;
  n.role.begin(list);
  perform(rank, list);
}

bool world::deliverable(int from, int to) const {
  // What waits for a suspect is sent when the suspect is heard again.
  return !wires_[wire(from, to)].empty() && at(to).begun && at(to).alive &&
         !(at(from).alive && lost_[wire(from, to)]);
}

void world::deliver(int from, int to) {
  auto& w = wires_[wire(from, to)];
  auto p = std::move(w.front());
  w.erase(w.begin());
  lost_[wire(to, from)] = false;  // whoever speaks lives
  receive(from, to, std::move(p));
}

void world::receive(int from, int to, packet p) {
  auto& n = at(to);
  if (n.ended) return;
  if (fault_ != nullptr && !fault_->receives(*this, from, to, p.what)) return;
  if (to == 0) {
    role::call_messages told;
    roll_.on_peer(from, p.what, told);
    send_all(told);
    if (for_roll_call(p.what.kind)) return;
  }
  if (p.what.kind == peer_message_kind::finish) n.result = p.body.result;
  role::steal_actions list;
  n.role.on(from, p.what, list);
  perform(to, list, &p);
}

void world::finish(int rank) {
  auto& n = at(rank);
  auto const [debt, task] = *n.running;
  n.running.reset();
  ++n.ran;
  auto const s = n.debts.find(debt);
  if (s == n.debts.end()) return;  // void meanwhile
  if (scenario_->failing == task) {
    failed_ = true;
    role::steal_actions list;
    n.role.failed(n.ran, "it throws", list);
    perform(rank, list);
    return;
  }
  ++s->second.result[static_cast<std::size_t>(task)];
  for (int const child : (*children_)[static_cast<std::size_t>(task)]) s->second.waiting.push_back(child);
}

void world::die(int rank, std::uint64_t last_words) {
  auto& n = at(rank);
  ++deaths_;
  died_at_work_ = died_at_work_ || !complete_;
  n.alive = false;
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto& out = wires_[wire(rank, r)];
    if (lost_[wire(rank, r)]) out.clear();
    if (last_words < out.size()) out.resize(last_words);
    wires_[wire(r, rank)].clear();
  }
  n.role = {};
  n.debts.clear();
  n.lent.clear();
  n.running.reset();
}

void world::lose(int rank, int peer) {
  lost_[wire(rank, peer)] = true;
  if (!active(rank)) return;
  if (rank == 0) {
    role::call_messages told;
    roll_.lost(peer, told);
    send_all(told);
  }
  role::steal_actions list;
  at(rank).role.lost(peer, list);
  perform(rank, list);
}

void world::tick(int rank) {
  ++ticks_;
  for (int r = 0; r < scenario_->ranks; ++r)
    if (lost_[wire(rank, r)]) lose(rank, r);
  role::steal_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

}  // namespace steal_harness
