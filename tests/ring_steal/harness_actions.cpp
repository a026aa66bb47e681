// The harness's version of the work the engine does for ring_steal's roles.
#include <algorithm>

#include "harness.hpp"

namespace steal_harness {

namespace steal = role::steal;

namespace {

void add(counts& into, counts const& more) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::uint8_t>(into[i] + more[i]);
}

void append(std::vector<int>& to, std::vector<int> const& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void world::perform(int rank, role::steal_actions& list, packet* cause) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& action : std::exchange(list, {})) {
    if (auto const* const s = std::get_if<steal::send>(&action)) {
      send(rank, s->to, s->what, s->debt);
    } else if (auto const* a = std::get_if<steal::accept>(&action)) {
      require(!cause->body.tasks.empty(), "an empty loan");
      n.debts[a->debt] = {
          {cause->body.tasks, none()}, cause->lender, std::get<steal::loan>(cause->what).number};
    } else if (auto const* w = std::get_if<steal::work>(&action)) {
      require(n.debts.contains(w->debt), "work on a debt that does not exist");
      begin_debt(rank, n.debts.at(w->debt));
    } else if (auto const* p = std::get_if<steal::settle>(&action)) {
      require(n.lent.erase(p->loan) == 1, "a loan is paid back twice");
      add(n.debts.at(p->debt).result, cause->body.result);
      n.debts.at(p->debt).changed = true;
    } else if (auto const* apart = std::get_if<steal::set_apart>(&action)) {
      set_apart(rank, *apart);
    } else if (auto const* again = std::get_if<steal::lend_again>(&action)) {
      lend_again(rank, *again);
    } else if (auto const* t = std::get_if<steal::take_back>(&action)) {
      auto& into = n.debts.at(t->debt);
      auto const& l = n.lent.at(t->loan);
      into.changed = true;
      append(into.tasks, slips(slip::takes_back_what_was_lent) ? l.lent : l.worth.tasks);
      if (!slips(slip::forgets_a_stated_result)) add(into.result, l.worth.result);
      n.lent.erase(t->loan);
    } else if (auto const* stated = std::get_if<steal::restate>(&action)) {
      restate(rank, *stated, *cause);
    } else if (auto const* own = std::get_if<steal::absorb>(&action)) {
      absorb(rank, *own);
    } else if (std::holds_alternative<steal::record>(action)) {
      require(rank == 0, "a rank other than the root records a checkpoint");
      recorded_ = state(0, 0);
      // A job that restarts from here must count every node exactly once.
      require(value(*recorded_) == counts(scenario_->parent.size(), 1), "a wrong checkpoint");
    } else if (auto const* f = std::get_if<steal::forget>(&action)) {
      require(n.lent.erase(f->loan) == 1, "a loan is forgotten twice");
    } else if (auto const* d = std::get_if<steal::drop>(&action)) {
      require(n.debts.erase(d->debt) == 1, "a debt is dropped twice");
    } else if (std::holds_alternative<steal::complete>(action)) {
      require(rank == 0 && !complete_, "the call completes twice");
      complete_ = true;
      total_ = n.debts.at(0).result;
      n.debts.erase(0);
      for (auto const c : total_) tasks_ += c;
      call_roll(&role::roll_call::close, role::outcome{.tasks = tasks_});
    } else if (auto const* drained = std::get_if<role::drain>(&action)) {
      n.draining = true;
      if (drained->early) continue;
      n.debts.clear();
      n.lent.clear();
    } else {
      auto const* told = std::get_if<role::tell_root>(&action);
      if (auto const* b = told == nullptr ? nullptr : std::get_if<role::blamed>(&told->what))
        check_blame(rank, *b);
      performs(rank, action);
    }
  }
}

void world::restate(int rank, steal::restate const& what, packet const& cause) {
  auto& lent = at(rank).lent;
  auto& l = lent.at(what.loan);
  require(l.of == what.debt, "a statement about a loan of another debt");
  auto all = value(cause.body);
  for (auto const& part : cause.parts) add(all, value(part.worth));
  require(all == value({l.lent, none()}), "the value of a statement differs from its loan's");
  require(cause.parts.size() == what.inherited.size(), "other loans are inherited");
  for (std::size_t i = 0; i < cause.parts.size(); ++i) {
    auto part = cause.parts[i];
    part.of = what.debt;
    part.origin = what.inherited[i];
    lent[part.origin] = std::move(part);
  }
  l.worth = cause.body;
  l.cleared = cause.begun;
  l.watched.clear();
  l.ran.clear();
}

void world::absorb(int rank, steal::absorb const& what) {
  auto& n = at(rank);
  require(n.lent.erase(what.loan) == 1 && n.debts.contains(what.own), "a rank inherits what it does not owe");
  auto const own = n.debts.extract(what.own);
  auto& all = n.debts.at(what.debt);
  append(all.tasks, own.mapped().tasks);
  add(all.result, own.mapped().result);
  all.changed = true;
  if (n.runs(what.own)) n.running->first = what.debt;
  for (auto& [number, l] : n.lent)
    if (l.of == what.own) l.of = what.debt;
}

// The engine does so whenever no thread runs a task, soon.
void world::hand_over(int rank) {
  auto& n = at(rank);
  if (!n.role.leaves() || n.running) return;
  if (!scenario_->explored && !prompt_ && below(3) == 0) return;
  role::steal_actions list;
  n.role.retire(true, true, list);
  perform(rank, list);
}

// Only the harness knows this immediately; the lender learns it from a later message.
void world::begin_debt(int rank, debt const& d) {
  auto& lent = at(d.lender).lent;
  if (auto const l = lent.find(d.number); l != lent.end() && l->second.borrower == rank) ++l->second.begun;
}

void world::set_apart(int rank, steal::set_apart const& what) {
  auto& l = at(rank).lent.at(what.loan);
  require(l.of == what.debt, "a loan is set apart from another debt");
  auto& d = at(rank).debts.at(what.debt);
  d.changed = true;
  if (!slips(slip::forgets_a_stated_result)) add(d.result, l.worth.result);
  l.worth = {slips(slip::takes_back_what_was_lent) ? l.lent : l.worth.tasks, none()};
  l.lent = l.worth.tasks;
  bool const watched = l.begun > l.cleared && lost_[wire(rank, l.borrower)];
  if (watched) l.watched.push_back(l.borrower);
  if (watched && run_by(l.borrower) == loan_name{rank, what.loan}) l.ran.push_back(l.borrower);
  l.cleared = l.begun;
  cut(rank, what.loan);
}

world::loan_name world::run_by(int rank) const {
  auto const& n = at(rank);
  if (auto const dead = ran_.find(rank); dead != ran_.end()) return dead->second;
  auto const current = n.role.debts().current();
  if (!current || !n.debts.contains(*current)) return {-1, 0};
  return {n.debts.at(*current).lender, n.debts.at(*current).number};
}

void world::dies(int rank) { ran_[rank] = run_by(rank); }

void world::cut(int rank, role::loan_id number) {
  auto& n = at(rank);
  auto& first = n.lent.at(number);
  auto left = first.worth.tasks;
  role::steal_actions list;
  auto const parts = n.role.cut(number, left.size(), list);
  require(parts.count == std::clamp<std::uint64_t>(left.size(), 1, scenario_->most_parcels), "wrong parcels");
  for (std::uint64_t i = 0; i < parts.count; ++i) {
    auto l = first;
    if (i > 0) l.origin = parts[i];
    if (parts.count > 1) l.ran.clear();  // a parcel of several tasks
    auto const size = static_cast<std::ptrdiff_t>(left.size() / (parts.count - i));
    l.worth.tasks.assign(left.begin(), left.begin() + size);
    left.erase(left.begin(), left.begin() + size);
    l.lent = l.worth.tasks;
    n.lent[i == 0 ? number : l.origin] = std::move(l);
  }
  perform(rank, list);
}

void world::lend_again(int rank, steal::lend_again const& what) {
  auto& n = at(rank);
  auto l = n.lent.extract(what.parcel);
  require(!l.empty(), "a parcel is lent that does not exist");
  l.key() = what.what.number;
  l.mapped().borrower = what.to;
  auto p = packet_of(what.what);
  p.body = l.mapped().worth;
  n.lent.insert(std::move(l));
  post(rank, what.to, std::move(p));
  role::steal_actions nothing;
  if (slips(slip::takes_lent_for_begun))
    n.role.on(what.to, role::steal_message(steal::begins{what.what.number}), nothing);
}

void world::send(int rank, int to, role::steal_message const& what, role::debt_id debt) {
  auto& n = at(rank);
  auto p = packet_of(what);
  if (auto const* l = std::get_if<steal::loan>(&what)) {
    auto& waiting = n.debts.at(debt).tasks;
    p.body.result = none();
    std::vector<int> kept;
    for (std::size_t i = 0; i < waiting.size(); ++i)
      (i == 0 || (scenario_->half && i % 2 == 0) ? p.body.tasks : kept).push_back(waiting[i]);
    waiting = std::move(kept);
    n.lent[l->number] = {
        .of = debt, .lent = p.body.tasks, .worth = p.body, .borrower = to, .origin = l->number};
  } else if (std::holds_alternative<steal::paid>(what)) {
    require(n.debts.at(debt).tasks.empty() && !n.runs(debt), "paid with tasks left");
    p.body = n.debts.extract(debt).mapped();
  } else if (std::holds_alternative<steal::worth>(what)) {
    p.body = state(rank, debt);
    auto& d = n.debts.at(debt);
    d.changed = false;
    auto const& lent = at(d.lender).lent;
    if (auto const its = lent.find(d.number); its != lent.end()) p.begun = its->second.begun;
  } else if (auto const* b = std::get_if<steal::bequeaths>(&what)) {
    require(!n.running, "debts are handed back while a task runs");
    p.body = n.debts.at(debt);
    require(b->work == !p.body.tasks.empty(), "wrong work");
    for (auto const& part : b->loans) p.parts.push_back(n.lent.at(part.number));
  } else if (std::holds_alternative<steal::returned>(what)) {
    require(!n.running, "returned while a task runs");
    p.body = state(rank, debt);
    n.debts.erase(debt);
  } else if (auto const* call = std::get_if<role::call_message>(&what);
             call != nullptr && std::holds_alternative<role::finish>(*call)) {
    p.body.result = total_;
  }
  post(rank, to, std::move(p));
  role::steal_actions nothing;
  if (auto const* m = std::get_if<steal::moves>(&what); m != nullptr && slips(slip::takes_asked_for_silent))
    n.role.on(to, role::steal_message(steal::heard{m->loan}), nothing);
}

// Computes the statement of a debt. A running task counts as waiting, because its result is not known yet.
statement world::state(int rank, role::debt_id debt) const {
  auto const& n = at(rank);
  statement s = n.debts.at(debt);
  if (n.runs(debt) && !slips(slip::leaves_out_what_runs)) s.tasks.push_back(n.running->second);
  for (auto const& [number, l] : n.lent) {
    if (l.of != debt || slips(slip::leaves_out_what_is_lent)) continue;
    append(s.tasks, slips(slip::states_what_is_lent_as_it_was) ? l.lent : l.worth.tasks);
    add(s.result, l.worth.result);
  }
  return s;
}

// Returns the result of running the tasks of a statement sequentially.
counts world::value(statement const& s) const {
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

// The engine notifies the role immediately when a debt runs dry and when a draining rank is quiet.
void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank)) return;
  // A rank may prune with any bound that a node has found, but not with a better one.
  require(n.role.share(0) <= found_, "a bound is better than all that were found");
  require(n.role.share(0) >= std::exchange(n.bound, n.role.share(0)), "a bound becomes worse");
  role::steal_actions list;
  while (auto const c = n.role.debts().current()) {
    if (!n.debts.at(*c).tasks.empty() || n.runs(*c)) break;
    n.role.dry(*c, list);
    perform(rank, list);
  }
  hand_over(rank);
  require(n.debts.size() == n.role.debts().size() && n.lent.size() == n.role.loans().book().size(),
          "role and engine count different debts or loans");
  if (n.draining && !n.running) {
    n.role.quiet(list);
    perform(rank, list);
  }
}

// --- state hash

void node::add_to(role::digest& d) const {
  d.add(role).add(running);
  for (auto const& [id, s] : debts) d.add(id).add(s.changed).add<statement>(s);
  for (auto const& [id, l] : lent)
    d.add(id).add(l.of).add(l.begun > l.cleared).add(l.lent).add(l.watched).add(l.ran).add(l.worth);
}

void world::add_to(role::digest& d) const {
  d.add(recorded_).add(found_).add(statements_).add(asked_to_stop_).add(complete_);
  if (scenario_->retirements > 0) d.add(retired_).add(stayed_).add(runs_);
}

}  // namespace steal_harness
