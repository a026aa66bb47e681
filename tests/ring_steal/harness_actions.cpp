// What the engine does for ring_steal's roles, and what must hold of it.
#include <algorithm>
#include <utility>

#include "harness.hpp"
#include "skel/bytes.hpp"

namespace steal_harness {

using role::peer_message;
using role::peer_message_kind;
namespace act = role::loan_action;

namespace {

peer_message through_codec(peer_message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = role::decode_peer_message(rest);
  require(read == m && rest.empty(), std::string("not read as written: ") + to_string(m.kind));
  return read;
}

template <class Counts>
void add(Counts& into, Counts const& more) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::uint8_t>(into[i] + more[i]);
}

void append(std::vector<int>& to, std::vector<int> const& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void world::perform(int rank, role::steal_actions& list, packet* cause) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  auto const todo = std::exchange(list, {});
  for (auto action : todo) {
    if (auto* const s = std::get_if<act::send>(&action)) {
      perform_send(rank, *s);
    } else if (auto const* a = std::get_if<act::accept>(&action)) {
      require(!cause->body.tasks.empty(), "an empty loan");
      n.debts[a->debt] = {cause->body.tasks, none()};
    } else if (auto const* w = std::get_if<act::work>(&action)) {
      require(n.debts.contains(w->debt), "work on a debt that does not exist");
    } else if (auto const* p = std::get_if<act::settle>(&action)) {
      require(n.lent.erase(p->loan) == 1, "a loan is paid back twice");
      add(n.debts.at(p->debt).result, cause->body.result);
    } else if (auto const* t = std::get_if<act::take_back>(&action)) {
      auto& into = n.debts.at(t->debt);
      auto const& l = n.lent.at(t->loan);
      append(into.waiting, slips(slip::takes_back_what_was_lent) ? l.lent : l.worth.tasks);
      if (!slips(slip::forgets_a_stated_result)) add(into.result, l.worth.result);
      n.lent.erase(t->loan);
    } else if (auto const* stated = std::get_if<act::restate>(&action)) {
      auto& l = n.lent.at(stated->loan);
      require(l.of == stated->debt, "a statement about a loan of another debt");
      require(value(cause->body) == value({l.lent, none()}), "a statement that is not worth the loan");
      l.worth = cause->body;
    } else if (std::holds_alternative<act::record>(action)) {
      require(rank == 0, "a rank that is not the root records");
      record(state(0, 0));
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
      role::call_messages told;
      roll_.done(tasks_, told);
      send_all(told);
    } else if (auto const* drained = std::get_if<act::drain>(&action)) {
      n.draining = true;
      if (drained->keeps) continue;
      n.debts.clear();
      n.lent.clear();
    } else if (auto const* e = std::get_if<role::end>(&action)) {
      require(!n.ended, "a rank ends twice");
      n.ended = true;
      n.how = e->how;
    } else if (auto const* failure = std::get_if<role::fail>(&action)) {
      n.ended = true;
      n.failure = failure->why == role::fail::reason::lost_root ? "lost root" : failure->text;
    }
  }
}

void world::send_all(role::call_messages& list) {
  for (auto& m : std::exchange(list, {})) {
    act::send s{m.to, role::to_peer(m.what), 0};
    perform_send(0, s);
  }
}

void world::perform_send(int rank, act::send& s) {
  auto& n = at(rank);
  packet p{through_codec(s.what), {}};
  if (s.what.kind == peer_message_kind::loan) {
    auto& waiting = n.debts.at(s.debt).waiting;
    auto const count = static_cast<std::ptrdiff_t>(scenario_->half ? (waiting.size() + 1) / 2 : 1);
    p.body.tasks.assign(waiting.begin(), waiting.begin() + count);
    waiting.erase(waiting.begin(), waiting.begin() + count);
    n.lent[s.what.number] = {s.debt, p.body.tasks, {p.body.tasks, none()}};
  } else if (s.what.kind == peer_message_kind::paid) {
    auto const& d = n.debts.at(s.debt);
    require(d.waiting.empty() && !(n.running && n.running->first == s.debt), "paid with tasks left");
    p.body.result = d.result;
    n.debts.erase(s.debt);
  } else if (s.what.kind == peer_message_kind::worth) {
    p.body = state(rank, s.debt);
  } else if (s.what.kind == peer_message_kind::returned_loan) {
    require(!n.running, "returned while a task runs");
    p.body = state(rank, s.debt);
    n.debts.erase(s.debt);
  } else if (s.what.kind == peer_message_kind::finish) {
    p.body.result = total_;
  }
  if (at(s.to).alive || s.to == rank) wires_[wire(rank, s.to)].push_back(std::move(p));
}

// What a debt is worth: of a task that runs it is not known what it will have done, so it is still to be run.
world::statement world::state(int rank, role::debt_id debt) const {
  auto const& n = at(rank);
  auto const& d = n.debts.at(debt);
  statement s{d.waiting, d.result};
  if (n.running && n.running->first == debt && !slips(slip::leaves_out_what_runs))
    s.tasks.push_back(n.running->second);
  for (auto const& [number, l] : n.lent) {
    if (l.of != debt || slips(slip::leaves_out_what_is_lent)) continue;
    append(s.tasks, slips(slip::states_what_is_lent_as_it_was) ? l.lent : l.worth.tasks);
    add(s.result, l.worth.result);
  }
  return s;
}

// What comes out when the tasks of a statement are run one after the other.
world::counts world::value(statement const& s) const {
  auto all = s.result;
  auto left = s.tasks;
  while (!left.empty()) {
    auto const task = static_cast<std::size_t>(left.back());
    left.pop_back();
    ++all[task];
    append(left, (*children_)[task]);
  }
  return all;
}

// A job that is started again from here has the whole result, to the node.
void world::record(statement const& s) {
  require(value(s) == counts(scenario_->parent.size(), 1), "a wrong checkpoint");
  recorded_ = s;
}

// The engine tells at once when a debt is dry, and when a draining rank is quiet.
void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank)) return;
  role::steal_actions list;
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

bool world::ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.ended || !n.alive; });
}

void world::check_end() const {
  using status = role::outcome::status;
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
      check_early_result();
      check_last_record();
      break;
    default:
      require(false, "an outcome that cannot be");
  }
}

// A run that is stopped early returns what ran: each node at most once, and all of them where nobody was lost
// or suspected. A node that threw is a failure, not an early end.
void world::check_early_result() const {
  auto const& root = at(0);
  require(complete_, "an early end without a result");
  require(root.how->tasks == tasks_, "the number of tasks is wrong");
  std::uint64_t ran = 0;
  for (auto const& n : nodes_) {
    ran += n.ran;
    if (n.alive) require(n.result == total_, "ranks have different results");
  }
  require(std::all_of(total_.begin(), total_.end(), [](auto c) { return c <= 1; }),
          "a node is counted twice");
  require(deaths_ > 0 || suspicions_ > 0 || ran == tasks_, "what ran is not in the early result");
}

// Where nobody was lost or suspected and no task threw, what was done until the early end is in the
// checkpoint, all of it.
void world::check_last_record() const {
  if (!scenario_->records || failed_) return;
  require(recorded_.has_value(), "an early end without a checkpoint");
  if (deaths_ > 0 || suspicions_ > 0) return;
  std::uint64_t ran = 0, counted = 0;
  for (auto const& n : nodes_) ran += n.ran;
  for (auto const c : recorded_->result) counted += c;
  require(ran == counted, "what was done is not in the last checkpoint");
}

std::uint64_t world::again() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.taken_back();
  return n;
}

}  // namespace steal_harness
