// The events of a world of peers and their effects. Included by peer_world.hpp.
#pragma once

namespace harness_common {

template <class Scenario, class Node, class Packet, class Actions>
peer_world<Scenario, Node, Packet, Actions>::peer_world(Scenario const& s, fault* f) : fault_(f) {
  start_job(s);
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::start_job(Scenario const& s) {
  scenario_ = std::make_shared<Scenario const>(s);
  auto const ranks = static_cast<std::size_t>(s.ranks);
  nodes_.assign(ranks, Node{});
  wires_.clear();
  lost_.assign(ranks * ranks, false);
  complete_ = false;
  roll_ = role::roll_call(s.ranks, peer_call_hash);
}

// --- events

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  switch (e.what) {
    case kind::begin:
      at(e.a).begun = true;
      begin(e.a);
      break;
    case kind::deliver:
      deliver(e.a, e.b);
      break;
    case kind::tick:
      if (e.a != everybody) {
        tick(e.a);
        break;
      }
      for (int r = 0; r < scenario_->ranks; ++r)
        if (active(r)) apply({kind::tick, r});
      return;
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
      please_stop(e.a);
      break;
    default:
      apply_own(e);
  }
  if (e.what != kind::die) follow_up(e.a);
  if (e.what == kind::deliver) follow_up(e.b);
  check();
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::deliver(int from, int to) {
  auto const w = wires_.find(wire(from, to));
  auto p = std::move(w->second.front());
  w->second.erase(w->second.begin());
  if (w->second.empty()) wires_.erase(w);
  // A message proves that its sender lives. An exploration does not detect a death twice: ticks repeat it.
  if (at(from).alive || !scenario_->thorough) lost_[wire(to, from)] = false;
  // Where messages are lost, the root must stay and repeat the end.
  bool const stays = to == 0 && from != 0 && scenario_->lost_in > 0;
  if (at(to).ended && !stays) return;
  if (fault_ == nullptr || fault_->receives(*this, from, to, p.what)) receive(from, to, p);
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::die(int rank, std::uint64_t last_words) {
  dies(rank);
  ++deaths_;
  history_.died_at_work = history_.died_at_work || !complete_;
  auto const ranks = static_cast<std::size_t>(scenario_->ranks);
  auto const self = static_cast<std::size_t>(rank);
  for (auto& [between, w] : wires_) {
    bool const out = between / ranks == self;
    if (between % ranks == self || (out && lost_[between])) w.clear();
    if (out && last_words < w.size()) w.resize(last_words);
  }
  std::erase_if(wires_, [](auto const& w) { return w.second.empty(); });
  Node dead{};
  dead.begun = at(rank).begun;
  dead.alive = false;
  at(rank) = std::move(dead);
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::lose(int rank, int peer) {
  lost_[wire(rank, peer)] = true;
  if (!watches(rank)) return;
  if (rank == 0) call_roll(&role::roll_call::lost, peer);
  hear_lost(rank, peer);
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::tick(int rank) {
  ++ticks_;
  for (int r = 0; r < scenario_->ranks; ++r)
    if (lost_[wire(rank, r)]) lose(rank, r);
  hear_tick(rank);
}

// --- possible events

template <class Scenario, class Node, class Packet, class Actions>
std::vector<peer_event> peer_world<Scenario, Node, Packet, Actions>::possible(std::uint64_t ticks) const {
  std::vector<event> all;
  auto const& s = *scenario_;
  for (int a = 0; a < s.ranks; ++a) {
    std::size_t words = 1;  // no more messages are under way from a to one rank
    for (auto w = wires_.lower_bound(wire(a, 0)); w != wires_.end() && w->first < wire(a + 1, 0); ++w) {
      words = std::max(words, w->second.size());
      if (auto const b = static_cast<int>(w->first) % s.ranks; deliverable(a, b))
        all.push_back({kind::deliver, a, b});
    }
    if (!at(a).alive) {
      for (int b = 0; b < s.ranks; ++b)
        if (watches(b) && !lost_[wire(b, a)]) all.push_back({kind::detect, b, a});
      continue;
    }
    if (!at(a).begun) all.push_back({kind::begin, a});
    bool const suspects = suspicions_ < s.suspicions && active(a) && watches(a);
    for (int b = 0; b < s.ranks && (watches(a) || at(a).ended); ++b)
      if (lost_[wire(a, b)] ? at(b).alive : suspects && b != 0 && b != a && at(b).alive)
        all.push_back({lost_[wire(a, b)] ? kind::heartbeat : kind::suspect, a, b});
    if (a != 0 && deaths_ < s.deaths && may_die(a)) {
      all.push_back({kind::die, a, 0, ~0ULL});
      for (std::uint64_t n = 0; n < (s.thorough ? words : 1); ++n) all.push_back({kind::die, a, 0, n});
    }
    if (!active(a)) continue;
    add_own(a, all);
    if (s.ticks && ticks_ < ticks) all.push_back({kind::tick, a});
  }
  auto const quiet = [](event const& e) { return e.what == kind::tick || e.what == kind::die; };
  if (!s.thorough || !std::all_of(all.begin(), all.end(), quiet)) return all;
  require(ticks_ < 400, "the run is stuck; " + waits_for());
  std::erase_if(all, [](event const& e) { return e.what == kind::tick; });
  all.push_back({kind::tick, everybody});
  return all;
}

template <class Scenario, class Node, class Packet, class Actions>
bool peer_world<Scenario, Node, Packet, Actions>::rare(event const& e) const {
  return e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
         e.what == kind::heartbeat || e.what == kind::detect || e.what == kind::measure ||
         e.what == kind::damage || e.what == kind::rerun || e.what == kind::away || e.what == kind::state ||
         e.what == kind::overrun || e.what == kind::retire;
}

template <class Scenario, class Node, class Packet, class Actions>
bool peer_world<Scenario, Node, Packet, Actions>::step(std::mt19937_64& dice) {
  auto all = possible(~0ULL);
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  auto const ranks = static_cast<std::uint64_t>(s.ranks);
  if (s.stops_early && !asked_to_stop_ && below(20) == 0) {
    auto const a = static_cast<int>(below(ranks));
    if (active(a)) all.push_back({kind::stop, a});
  }
  for (int turn = 0; turn < 20 && !all.empty(); ++turn) {
    auto e = all[below(all.size())];
    if (rare(e) && below(10) != 0) continue;
    if (e.what == kind::die) e.n = below(4);
    if (e.what == kind::measure) e.n = 1 + below(ranks);
    apply(e);
    return true;
  }
  return !all.empty();
}

// Tells every rank which ranks are dead and which are alive.
template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::notice_all() {
  for (int a = 0; a < scenario_->ranks; ++a)
    for (int b = 0; b < scenario_->ranks; ++b) {
      if (watches(a) && !at(b).alive && !lost_[wire(a, b)]) apply({kind::detect, a, b});
      if (lost_[wire(a, b)] && at(b).alive) apply({kind::heartbeat, a, b});
    }
}

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::settle(std::mt19937_64& dice) {
  for (int round = most_rounds(); round > 0 && !ended(); --round) {
    notice_all();
    for (auto left = most_events(); left > 0 && !ended(); --left) {
      auto all = possible(0);
      std::erase_if(all, [](event const& e) {
        return e.what == kind::die || e.what == kind::suspect || e.what == kind::heartbeat;
      });
      if (all.empty()) break;
      apply(all[dice() % all.size()]);
    }
    if (ended()) return;
    require(scenario_->ticks, "the run does not end without a tick; " + waits_for());
    for (int a = 0; a < scenario_->ranks; ++a)
      if (active(a)) apply({kind::tick, a});
  }
  require(ended(), "the run is stuck; " + waits_for());
}

// --- invariants

template <class Scenario, class Node, class Packet, class Actions>
void peer_world<Scenario, Node, Packet, Actions>::check_end() const {
  using status = role::outcome::status;
  auto const& s = *scenario_;
  auto const& root = at(0);
  if (s.other_call) {
    if (at(*s.other_call).begun && !root.failure.empty()) return;
    require(!at(*s.other_call).alive || suspicions_ > 0, "another call is not noticed");
  }
  if ((!root.alive || !root.failure.empty()) && may_fail()) return;
  require(root.failure.empty(), "the root fails: " + root.failure);
  for (auto const& n : nodes_)
    require(!n.alive || (n.how.has_value() && n.how == root.how), "ranks end differently");
  switch (root.how->how) {
    case status::done:
      check_done();
      break;
    case status::task_failed:
      require(may_blame(*root.how) || failed_, "a task failure without a cause");
      break;
    case status::stopped_early:
      require(asked_to_stop_, "an early stop that no rank requested");
      check_stopped_early();
      break;
    case status::part_lost:
      require(may_lose_parts() && (deaths_ > 0 || suspicions_ > 0), "a part is lost without a lost rank");
      break;
    default:
      require(may_end_so(*root.how), "an impossible outcome");
  }
}

template <class Scenario, class Node, class Packet, class Actions>
std::uint64_t peer_world<Scenario, Node, Packet, Actions>::hash() const {
  role::digest d;
  for (auto const& n : nodes_) {
    n.add_to(d);
    d.add((n.begun ? 1U : 0U) + (n.alive ? 2U : 0U) + (n.ended ? 4U : 0U) + (n.draining ? 8U : 0U));
  }
  for (auto const& [between, w] : wires_) {
    d.add(between);
    for (auto const& p : w) {
      p.add_to(d.add(p.what));
    }
    d.add(w.size());
  }
  d.add(wires_.size());
  d.add(lost_);
  add_to(d);
  return d.add(deaths_).add(suspicions_).add(ticks_).add(roll_).value();
}

}  // namespace harness_common
