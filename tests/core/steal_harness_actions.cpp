// What the engine does for ring_steal's roles, and what must hold of it.
#include <algorithm>
#include <utility>

#include "skel/protocol/bytes.hpp"
#include "steal_harness.hpp"

namespace steal_harness {

using protocol::peer_message;
using protocol::peer_message_kind;
namespace act = protocol::loan_action;

namespace {

peer_message through_codec(peer_message const& m) {
  std::vector<std::byte> bytes;
  protocol::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = protocol::decode_peer_message(rest);
  require(read == m && rest.empty(), std::string("not read as written: ") + to_string(m.kind));
  return read;
}

}  // namespace

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
      protocol::peer_messages told;
      roll_.done(tasks_, told);
      send_all(told);
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

void world::send_all(protocol::peer_messages& list) {
  for (auto& m : std::exchange(list, {})) {
    act::send s{m.to, std::move(m.what), 0};
    perform_send(0, s);
  }
}

void world::perform_send(int rank, act::send& s) {
  auto& n = at(rank);
  packet p{through_codec(s.what), {}, {}};
  if (s.what.kind == peer_message_kind::loan) {
    auto& waiting = n.debts.at(s.debt).waiting;
    auto const count = static_cast<std::ptrdiff_t>(scenario_->half ? (waiting.size() + 1) / 2 : 1);
    p.tasks.assign(waiting.begin(), waiting.begin() + count);
    waiting.erase(waiting.begin(), waiting.begin() + count);
    n.lent[s.what.number] = p.tasks;
  } else if (s.what.kind == peer_message_kind::paid) {
    auto const& d = n.debts.at(s.debt);
    require(d.waiting.empty() && !(n.running && n.running->first == s.debt), "paid with tasks left");
    p.result = d.result;
    n.debts.erase(s.debt);
  } else if (s.what.kind == peer_message_kind::finish) {
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

std::uint64_t world::again() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.taken_back();
  return n;
}

}  // namespace steal_harness
