#include "steal_harness.hpp"

#include <algorithm>
#include <utility>

#include "skel/protocol/bytes.hpp"

namespace steal_harness {

using protocol::loan_message;
using protocol::loan_message_kind;
using kind = event::kind;
namespace act = protocol::loan_action;

namespace {

constexpr std::uint64_t call_hash = 42;

void require(bool holds, std::string const& text) {
  if (!holds) throw violation(text);
}

loan_message through_codec(loan_message const& m) {
  std::vector<std::byte> bytes;
  protocol::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto const read = protocol::decode_loan_message(rest);
  require(read == m && rest.empty(), std::string("not read as written: ") + to_string(m.kind));
  return read;
}

bool for_roll_call(loan_message_kind k) {
  return k == loan_message_kind::hello || k == loan_message_kind::failed ||
         k == loan_message_kind::please_stop || k == loan_message_kind::stopped;
}

}  // namespace

world::world(scenario const& s, fault* f) : scenario_(std::make_shared<scenario const>(s)), fault_(f) {
  auto const n = static_cast<std::size_t>(s.ranks);
  std::vector<std::vector<int>> children(s.parent.size());
  for (std::size_t i = 1; i < s.parent.size(); ++i)
    children[static_cast<std::size_t>(s.parent[i])].push_back(static_cast<int>(i));
  children_ = std::make_shared<std::vector<std::vector<int>> const>(std::move(children));
  wires_.resize(n * n);
  lost_.resize(n * n);
  protocol::stealer_config c;
  for (int r = 0; r < s.ranks; ++r) c.ranks.push_back(r);
  c.order = s.order;
  c.call_hash = call_hash;
  roll_ = protocol::roll_call(c);
  for (int r = 0; r < s.ranks; ++r) {
    c.self = r;
    c.call_hash = s.other_call == r ? call_hash + 1 : call_hash;
    node one;
    one.role = protocol::stealer(c);
    nodes_.push_back(std::move(one));
  }
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  protocol::steal_actions list;
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
  if (rank == 0) n.debts[0] = {{0}, counts(scenario_->parent.size())};
  protocol::steal_actions list;
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
  protocol::steal_actions list;
  if (to == 0) {
    roll_.on(from, p.what, list);
    perform(0, list);
    if (for_roll_call(p.what.kind)) return;
  }
  if (p.what.kind == loan_message_kind::finish) n.result = p.result;
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
    protocol::steal_actions list;
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
  protocol::steal_actions list;
  if (rank == 0) {
    roll_.lost(peer, list);
    perform(0, list);
  }
  at(rank).role.lost(peer, list);
  perform(rank, list);
}

void world::tick(int rank) {
  ++ticks_;
  for (int r = 0; r < scenario_->ranks; ++r)
    if (lost_[wire(rank, r)]) lose(rank, r);
  protocol::steal_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

// --- what the engine does

void world::perform(int rank, protocol::steal_actions& list, packet* cause) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  auto const todo = std::exchange(list, {});
  for (auto action : todo) {
    if (auto* const s = std::get_if<act::send>(&action)) {
      perform_send(rank, *s);
    } else if (auto const* a = std::get_if<act::accept>(&action)) {
      require(!cause->tasks.empty(), "an empty loan");
      n.debts[a->debt] = {cause->tasks, counts(scenario_->parent.size())};
    } else if (auto const* w = std::get_if<act::work>(&action)) {
      require(n.debts.contains(w->debt), "work on a debt that does not exist");
    } else if (auto const* p = std::get_if<act::settle>(&action)) {
      require(n.lent.erase(p->loan) == 1, "a loan is paid back twice");
      auto& into = n.debts.at(p->debt).result;
      for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = static_cast<std::uint8_t>(into[i] + cause->result[i]);
    } else if (auto const* t = std::get_if<act::take_back>(&action)) {
      auto& into = n.debts.at(t->debt).waiting;
      auto const& tasks = n.lent.at(t->loan);
      into.insert(into.end(), tasks.begin(), tasks.end());
      n.lent.erase(t->loan);
    } else if (auto const* f = std::get_if<act::forget>(&action)) {
      require(n.lent.erase(f->loan) == 1, "a loan is forgotten twice");
    } else if (auto const* d = std::get_if<act::drop>(&action)) {
      require(n.debts.erase(d->debt) == 1, "a debt is dropped twice");
    } else if (std::holds_alternative<act::complete>(action)) {
      require(rank == 0 && !complete_, "complete twice");
      complete_ = true;
      total_ = n.debts.at(0).result;
      n.debts.erase(0);
      for (auto const c : total_) tasks_ += c;
      roll_.done(tasks_, list);
      perform(0, list);
    } else if (std::holds_alternative<act::drain>(action)) {
      n.draining = true;
      n.debts.clear();
      n.lent.clear();
    } else if (auto const* e = std::get_if<protocol::end>(&action)) {
      require(!n.ended, "a rank ends twice");
      n.ended = true;
      n.how = e->how;
    } else if (auto const* failure = std::get_if<protocol::fail>(&action)) {
      n.ended = true;
      n.failure = failure->why == protocol::fail::reason::lost_root ? "lost root" : failure->text;
    }
  }
}

void world::perform_send(int rank, act::send& s) {
  auto& n = at(rank);
  packet p{through_codec(s.what), {}, {}};
  if (s.what.kind == loan_message_kind::loan) {
    auto& waiting = n.debts.at(s.debt).waiting;
    auto const count = static_cast<std::ptrdiff_t>(scenario_->half ? (waiting.size() + 1) / 2 : 1);
    p.tasks.assign(waiting.begin(), waiting.begin() + count);
    waiting.erase(waiting.begin(), waiting.begin() + count);
    n.lent[s.what.number] = p.tasks;
  } else if (s.what.kind == loan_message_kind::paid) {
    auto const& d = n.debts.at(s.debt);
    require(d.waiting.empty() && !(n.running && n.running->first == s.debt), "paid with tasks left");
    p.result = d.result;
    n.debts.erase(s.debt);
  } else if (s.what.kind == loan_message_kind::finish) {
    p.result = total_;
  }
  if (at(s.to).alive || s.to == rank) wires_[wire(rank, s.to)].push_back(std::move(p));
}

// The engine tells at once when a debt is dry, and when a draining rank is quiet.
void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank)) return;
  protocol::steal_actions list;
  while (true) {
    auto const c = n.role.current();
    if (!c || !n.debts.at(*c).waiting.empty() || (n.running && n.running->first == *c)) break;
    n.role.dry(*c, list);
    perform(rank, list);
  }
  require(n.debts.size() == n.role.debts() && n.lent.size() == n.role.loans(),
          "role and engine keep different books");
  if (n.draining && !n.running) {
    n.role.quiet(list);
    perform(rank, list);
  }
}

// --- what is possible

std::vector<event> world::possible(std::uint64_t ticks) const {
  std::vector<event> all;
  auto const& s = *scenario_;
  for (int a = 0; a < s.ranks; ++a) {
    auto const& n = at(a);
    if (!n.alive) {
      for (int b = 0; b < s.ranks; ++b) {
        if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
        if (active(b) && !lost_[wire(b, a)]) all.push_back({kind::detect, b, a});
      }
      continue;
    }
    if (!n.begun) all.push_back({kind::begin, a});
    for (int b = 0; b < s.ranks; ++b) {
      if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
      if (lost_[wire(a, b)] && at(b).alive) all.push_back({kind::heartbeat, a, b});
      if (b != 0 && b != a && at(b).alive && active(a) && suspicions_ < s.suspicions && !lost_[wire(a, b)])
        all.push_back({kind::suspect, a, b});
    }
    if (a != 0 && deaths_ < s.deaths && !complete_) {
      all.push_back({kind::die, a, 0, ~0ULL});
      all.push_back({kind::die, a, 0, 0});
    }
    if (!active(a)) continue;
    auto const c = n.role.current();
    if (n.running)
      all.push_back({kind::finish, a});
    else if (c && !n.debts.at(*c).waiting.empty())
      all.push_back({kind::start, a});
    // Explored: as the engine does, which keeps a task for itself; at random: anything. (Two ranks that give
    // each other their only task have no last state.)
    std::size_t const keeps = ticks == ~0ULL || n.running ? 0 : 1;
    if (n.role.wanted() && c && n.debts.at(*c).waiting.size() > keeps) all.push_back({kind::lend, a});
    if (n.role.resting()) all.push_back({kind::retry, a});
    if (ticks_ < ticks) all.push_back({kind::tick, a});
  }
  return all;
}

bool world::step(std::mt19937_64& dice) {
  auto all = possible(~0ULL);
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  if (below(20) == 0) {
    auto const a = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
    if (active(a) && at(a).role.wanted()) all.push_back({kind::away, a});
    if (active(a) && s.stops_early && !asked_to_stop_) all.push_back({kind::stop, a});
  }
  // Deaths and suspicions are rare, ticks too.
  for (int turn = 0; turn < 20 && !all.empty(); ++turn) {
    auto e = all[below(all.size())];
    bool const rare = e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
                      e.what == kind::heartbeat || e.what == kind::detect;
    if (rare && below(10) != 0) continue;
    if (e.what == kind::die) e.n = below(4);
    apply(e);
    return true;
  }
  return !all.empty();
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_rounds = 400;
  for (int round = 0; round < most_rounds && !ended(); ++round) {
    for (int a = 0; a < scenario_->ranks; ++a)
      for (int b = 0; b < scenario_->ranks; ++b) {
        if (active(a) && !at(b).alive && !lost_[wire(a, b)]) apply({kind::detect, a, b});
        if (lost_[wire(a, b)] && at(b).alive) apply({kind::heartbeat, a, b});
      }
    for (int i = 0; i < 400 && !ended(); ++i) {
      auto all = possible(~0ULL);
      std::erase_if(all, [](event const& e) {
        return e.what == kind::die || e.what == kind::suspect || e.what == kind::tick;
      });
      if (all.empty()) break;
      apply(all[dice() % all.size()]);
    }
    for (int a = 0; a < scenario_->ranks; ++a)
      if (active(a)) apply({kind::tick, a});
  }
  require(ended(), "the run is stuck");
}

bool world::ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.ended || !n.alive; });
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
  for (auto const& n : nodes_) {
    if (!n.alive) continue;
    require(n.how.has_value() && n.how == root.how, "ranks end differently");
    if (n.how->how == status::done) require(n.result == total_, "ranks have different results");
  }
  switch (root.how->how) {
    case status::done:
      require(total_ == counts(s.parent.size(), 1), "not every node is counted once");
      require(root.how->tasks == s.parent.size(), "the number of tasks is wrong");
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

std::uint64_t world::taken_back() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.taken_back();
  return n;
}

std::uint64_t world::hash() const {
  protocol::digest d;
  auto const add_list = [&](auto const& list) {
    for (auto const x : list) d.add(static_cast<std::uint64_t>(x));
    d.add(list.size());
  };
  for (auto const& n : nodes_) {
    d.add(n.role.hash());
    for (auto const& [id, s] : n.debts) {
      d.add(id);
      add_list(s.waiting);
      add_list(s.result);
    }
    for (auto const& [id, tasks] : n.lent) {
      d.add(id);
      add_list(tasks);
    }
    d.add(n.running ? n.running->first * 1000 + static_cast<std::uint64_t>(n.running->second) + 1 : 0);
    d.add((n.begun ? 1U : 0U) + (n.alive ? 2U : 0U) + (n.ended ? 4U : 0U) + (n.draining ? 8U : 0U));
  }
  d.add(roll_.hash());
  for (auto const& w : wires_) {
    for (auto const& p : w) {
      d.add(static_cast<std::uint64_t>(p.what.kind)).add(p.what.number);
      add_list(p.what.ids);
      add_list(p.tasks);
      add_list(p.result);
    }
    d.add(w.size());
  }
  for (bool const l : lost_) d.add(l ? 1 : 0);
  d.add(static_cast<std::uint64_t>(deaths_)).add(static_cast<std::uint64_t>(suspicions_)).add(ticks_);
  return d.add(complete_ ? 1 : 0).value();
}

}  // namespace steal_harness
