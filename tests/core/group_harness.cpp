#include "group_harness.hpp"

#include <algorithm>

#include "skel/protocol/bytes.hpp"
#include "skel/protocol/digest.hpp"

namespace group_harness {

using protocol::peer_message;
using protocol::peer_message_kind;
using kind = event::kind;
namespace act = protocol::group_action;

namespace {

constexpr std::uint64_t call_hash = 42;

}  // namespace

std::uint64_t scenario::pieces(std::uint64_t unit) const {
  return most_pieces == 0 ? 0 : (unit * 5 + seed) % (most_pieces + 1);
}

world::world(scenario const& s, fault* f) : scenario_(std::make_shared<scenario const>(s)), fault_(f) {
  auto const n = static_cast<std::size_t>(s.ranks);
  wires_.resize(n * n);
  lost_.resize(n * n);
  std::vector<int> ranks;
  protocol::arbiter_config book{s.ranks,     s.units,      s.group_size, {},          false,
                                s.reassigns, s.hosts_help, s.preloads,   s.left_alone};
  for (int r = 0; r < s.ranks; ++r) {
    ranks.push_back(r);
    if (s.uneven) book.power.push_back(1 + r % 3);
    node one;
    one.slave = protocol::group_slave(
        {r, 0, s.other_call == r ? call_hash + 1 : call_hash, s.threads, 0, s.threshold, s.results_level});
    auto const policy =
        s.shrinking ? skel::guided{s.least_pieces}.policy() : skel::first_come{s.least_pieces}.policy();
    one.host = protocol::group_host({r, 0, policy, s.read_ahead, s.buffers, s.left_alone});
    nodes_.push_back(std::move(one));
  }
  arbiter_ = protocol::arbiter(book);
  roll_ = protocol::roll_call(ranks, call_hash);
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  protocol::group_actions list;
  switch (e.what) {
    case kind::begin:
      begin(e.a);
      break;
    case kind::deliver:
      deliver(e.a, e.b);
      break;
    case kind::finish:
      finish(e.a, e.b);
      break;
    case kind::ready: {
      auto& j = at(e.a).running.at(static_cast<std::size_t>(e.b));
      auto& n = at(e.a);
      ++j.ready;
      if (n.host.active() && n.host.term() == j.term) n.units[j.pieces.unit] = j.ready;
      n.host.readied(j.term, j.ready, list);
      perform(e.a, list);
      break;
    }
    case kind::measure:
      if (!roll_.stopping()) arbiter_.measured(static_cast<unsigned>(e.n), list);
      perform(0, list);
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
      at(e.a).slave.please_stop(list);
      perform(e.a, list);
      break;
  }
  if (e.what != kind::die) follow_up(e.a);
  if (e.what == kind::deliver) follow_up(e.b);
  check_book();
}

void world::begin(int rank) {
  at(rank).begun = true;
  protocol::group_actions list;
  at(rank).slave.begin(list);
  perform(rank, list);
  if (rank != 0) return;
  arbiter_.begin(list);
  perform(0, list);
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
  auto& n = at(to);
  if (n.ended) return;
  if (fault_ != nullptr && !fault_->receives(*this, from, to, p.what)) return;
  protocol::group_actions list;
  if (to == 0) {
    protocol::peer_messages told;
    roll_.on(from, p.what, told);
    send_all(told);
    if (!roll_.stopping()) arbiter_.on(from, p.what, list);
    perform(0, list, p.cargo);
    if (for_roll_call(p.what.kind)) return;
  }
  if (p.what.kind == peer_message_kind::lead) n.share_end = p.what.ids.at(1);
  n.host.on(from, p.what, list);
  perform(to, list, p.cargo);
  n.slave.on(from, p.what, list);
  perform(to, list, p.cargo);
}

void world::finish(int rank, int which) {
  auto& n = at(rank);
  auto const j = n.running.at(static_cast<std::size_t>(which));
  n.running.erase(n.running.begin() + which);
  protocol::group_actions list;
  if (scenario_->failing == static_cast<int>(jobs_++)) {
    failed_ = true;
    n.slave.failed(j.pieces.unit, "it throws", list);
    perform(rank, list);
    return;
  }
  if (j.what == job::kind::read) {
    ++reads_;
    if (n.host.active() && n.host.term() == j.term) {
      n.units[j.pieces.unit] = scenario_->pieces(j.pieces.unit);
      n.kept[j.pieces.unit].resize(scenario_->pieces(j.pieces.unit));
      n.carried = j.pieces.unit;
    }
    n.host.was_read(j.term, scenario_->pieces(j.pieces.unit), list);
  } else if (j.what == job::kind::process) {
    if (auto const held = n.packets.find(j.id); held != n.packets.end()) {
      auto const& [term, cuts] = held->second;
      for (auto p = j.pieces.first; p < j.pieces.first + j.pieces.count; ++p)
        n.done.insert({{term, j.pieces.unit, p}, result_of(cuts.at(p - n.first_of.at(j.id)))});
    }
    n.slave.finished(j.id, j.pieces, j.pieces.count, list);
  } else {
    n.host.delivered(j.term, j.pieces.unit, list);
  }
  perform(rank, list);
}

void world::die(int rank, std::uint64_t last_words) {
  auto& n = at(rank);
  ++deaths_;
  died_at_work_ = died_at_work_ || !complete_;
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto& out = wires_[wire(rank, r)];
    if (lost_[wire(rank, r)]) out.clear();
    if (last_words < out.size()) out.resize(last_words);
    wires_[wire(r, rank)].clear();
  }
  n = node{};
  n.begun = true;
  n.alive = false;
}

void world::lose(int rank, int peer) {
  lost_[wire(rank, peer)] = true;
  if (!active(rank)) return;
  protocol::group_actions list;
  if (rank == 0) {
    protocol::peer_messages told;
    roll_.lost(peer, told);
    send_all(told);
    auto const before = arbiter_.taken_over();
    if (!roll_.stopping()) arbiter_.lost(peer, list);
    again_ += arbiter_.taken_over() - before;
    perform(0, list);
  }
  auto const before = at(rank).host.taken_back();
  at(rank).host.lost(peer, list);
  again_ += at(rank).host.taken_back() - before;
  perform(rank, list);
  at(rank).slave.lost(peer, list);
  perform(rank, list);
}

void world::tick(int rank) {
  ++ticks_;
  for (int r = 0; r < scenario_->ranks; ++r)
    if (lost_[wire(rank, r)]) lose(rank, r);
  protocol::group_actions list;
  at(rank).slave.tick(list);
  perform(rank, list);
}

// --- what is possible

std::vector<event> world::possible(std::uint64_t ticks) const {
  std::vector<event> all;
  auto const& s = *scenario_;
  if (active(0) && arbiter_.on_trial() && at(0).carried)
    all.push_back({kind::measure, 0, 0, 1 + s.seed % static_cast<std::uint64_t>(s.ranks)});
  for (int a = 0; a < s.ranks; ++a) {
    auto const& n = at(a);
    for (int b = 0; b < s.ranks; ++b)
      if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
    if (!n.alive) {
      for (int b = 0; b < s.ranks; ++b)
        if (active(b) && !lost_[wire(b, a)]) all.push_back({kind::detect, b, a});
      continue;
    }
    if (!n.begun) all.push_back({kind::begin, a});
    for (int b = 0; b < s.ranks; ++b) {
      if (lost_[wire(a, b)] && at(b).alive) all.push_back({kind::heartbeat, a, b});
      if (b != 0 && b != a && at(b).alive && active(a) && suspicions_ < s.suspicions && !lost_[wire(a, b)])
        all.push_back({kind::suspect, a, b});
    }
    if (a != 0 && deaths_ < s.deaths && !complete_) {
      all.push_back({kind::die, a, 0, ~0ULL});
      all.push_back({kind::die, a, 0, 0});
    }
    if (!active(a)) continue;
    for (int j = 0; j < static_cast<int>(n.running.size()); ++j) {
      all.push_back({kind::finish, a, j});
      auto const& x = n.running[static_cast<std::size_t>(j)];
      if (x.what == job::kind::read && x.ready < s.pieces(x.pieces.unit)) all.push_back({kind::ready, a, j});
    }
    if (ticks_ < ticks) all.push_back({kind::tick, a});
  }
  return all;
}

bool world::step(std::mt19937_64& dice) {
  auto all = possible(~0ULL);
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  if (s.stops_early && !asked_to_stop_ && below(20) == 0) {
    auto const a = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
    if (active(a)) all.push_back({kind::stop, a});
  }
  for (int turn = 0; turn < 20 && !all.empty(); ++turn) {
    auto e = all[below(all.size())];
    bool const rare = e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
                      e.what == kind::heartbeat || e.what == kind::detect || e.what == kind::measure;
    if (rare && below(10) != 0) continue;
    if (e.what == kind::die) e.n = below(4);
    if (e.what == kind::measure) e.n = 1 + below(static_cast<std::uint64_t>(s.ranks));
    apply(e);
    return true;
  }
  return !all.empty();
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_rounds = 40;
  auto const most_events = 100 * static_cast<std::uint64_t>(scenario_->ranks) +
                           40 * scenario_->units * (scenario_->most_pieces + 2);
  for (int round = 0; round < most_rounds && !ended(); ++round) {
    for (int a = 0; a < scenario_->ranks; ++a)
      for (int b = 0; b < scenario_->ranks; ++b) {
        if (active(a) && !at(b).alive && !lost_[wire(a, b)]) apply({kind::detect, a, b});
        if (lost_[wire(a, b)] && at(b).alive) apply({kind::heartbeat, a, b});
      }
    for (std::uint64_t i = 0; i < most_events && !ended(); ++i) {
      auto all = possible(0);
      std::erase_if(all, [](event const& e) {
        return e.what == kind::die || e.what == kind::suspect || e.what == kind::heartbeat;
      });
      if (all.empty()) break;
      apply(all[dice() % all.size()]);
    }
    for (int a = 0; a < scenario_->ranks; ++a)
      if (active(a)) apply({kind::tick, a});
  }
  require(ended(), "the run is stuck; the root waits for " + arbiter_.waits_for());
}

bool world::ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.ended || !n.alive; });
}

// --- what must hold

void world::check_book() const {
  if (!active(0) || roll_.stopping()) return;
  require(arbiter_.orphans() == 0, "a rank is forgotten");
  check_no_orphan();
  for (int r = 0; r < scenario_->ranks; ++r)
    require(at(r).host.open_units() <= scenario_->read_ahead + 2, "a host holds too many units");
}

// When nothing is under way and nobody is lost: while a host has a unit that nobody has begun to read, each
// rank without work has asked a host that leads. What the arbiter's book says is not looked at.
void world::check_no_orphan() const {
  auto const& s = *scenario_;
  bool const quiet = std::all_of(wires_.begin(), wires_.end(), [](auto const& w) { return w.empty(); });
  bool const sound =
      std::none_of(lost_.begin(), lost_.end(), [](bool l) { return l; }) && deaths_ == 0 && suspicions_ == 0;
  bool const all_begun = std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.begun; });
  if (!quiet || !sound || !all_begun || !s.reassigns || arbiter_.on_trial()) return;
  bool const work = std::any_of(nodes_.begin(), nodes_.end(), [](node const& n) {
    return n.host.active() && n.carried && *n.carried + 2 < n.share_end;
  });
  for (int r = 0; r < s.ranks && work; ++r) {
    auto const& slave = at(r).slave;
    if (slave.has_work() || slave.running() > 0 || (at(r).host.active() && !s.hosts_help)) continue;
    if (at(r).running.size() >= s.threads) continue;  // it reads
    require(slave.host() && slave.waiting() && at(*slave.host()).host.active(), "a rank is an orphan");
  }
}

void world::record(std::uint64_t unit, results const& cargo) {
  require(sunk_.emplace(unit, cargo).second, "a unit reaches the sink twice");
  require(cargo.size() == scenario_->pieces(unit), "a unit of the wrong size");
  for (std::size_t p = 0; p < cargo.size(); ++p)
    require(cargo[p] == result_of(cut_of(unit, p)), "a wrong result");
}

void world::check_end() const {
  using status = protocol::outcome::status;
  auto const& s = *scenario_;
  auto const& root = at(0);
  if (s.other_call) {
    if (at(*s.other_call).begun && !root.failure.empty()) return;
    require(!at(*s.other_call).alive || suspicions_ > 0, "another call is not noticed");
  }
  require(root.failure.empty(), "the root fails: " + root.failure);
  for (auto const& n : nodes_)
    require(!n.alive || (n.how.has_value() && n.how == root.how), "ranks end differently");
  switch (root.how->how) {
    case status::done:
      require(sunk_.size() == s.units, "units are missing at the end");
      require(started_ || s.units == 0, "the clock never started");
      break;
    case status::task_failed:
      require(failed_, "a failure out of nothing");
      break;
    case status::stopped_early:
      require(asked_to_stop_, "an early stop that nobody wanted");
      break;
    default:
      require(false, "an outcome that cannot be");
  }
}

std::uint64_t world::hash() const {
  protocol::digest d;
  for (auto const& n : nodes_) {
    d.add(n.slave.hash()).add(n.host.hash());
    for (auto const* jobs : {&n.waiting, &n.running}) {
      for (auto const& j : *jobs)
        d.add(static_cast<std::uint64_t>(j.what))
            .add(j.term)
            .add(j.id)
            .add(j.pieces.unit)
            .add(j.pieces.first)
            .add(j.ready);
      d.add(jobs->size());
    }
    for (auto const& [key, value] : n.done) d.add(key[0]).add(key[1]).add(key[2]);
    d.add((n.begun ? 1U : 0U) + (n.alive ? 2U : 0U) + (n.ended ? 4U : 0U) + (n.draining ? 8U : 0U));
  }
  for (auto const& w : wires_) {
    for (auto const& p : w) {
      d.add(static_cast<std::uint64_t>(p.what.kind)).add(p.what.number);
      for (auto const id : p.what.ids) d.add(id);
    }
    d.add(w.size());
  }
  for (bool const l : lost_) d.add(l);
  d.add(static_cast<std::uint64_t>(deaths_)).add(static_cast<std::uint64_t>(suspicions_)).add(ticks_);
  return d.add(arbiter_.hash()).add(roll_.hash()).value();
}

}  // namespace group_harness
