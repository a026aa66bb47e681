#include "ring_steal/role/stealer.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

stealer::stealer(stealer_config config)
    : config_(std::move(config)),
      search_(config_.self, std::make_shared<std::vector<rank_id> const>(config_.ranks), config_.order),
      attendance_(config_.self, config_.root) {
  search_.works(config_.root);  // all work begins there
}

void stealer::begin(steal_actions& out) {
  out.push_back(tell_root{hello{config_.call_hash}});
  if (config_.self == config_.root) debts_[next_debt_++] = {.lender = config_.self};
  turn_to_work(out);
}

// --- the thief

// The next debt with tasks, or somebody to ask for some.
void stealer::turn_to_work(steal_actions& out) {
  if (!hungry()) return;
  auto const ready =
      std::find_if(debts_.begin(), debts_.end(), [](auto const& entry) { return entry.second.work; });
  if (ready != debts_.end()) {
    current_ = ready->first;
    out.push_back(steal::work{*current_});
    return;
  }
  nothing_to_spare(out);
  ask_next(out);
}

void stealer::ask_next(steal_actions& out) {
  if (!resting() || asks_ >= arc) return;
  if (std::exchange(came_round_, false)) search_.begin();
  asked_ = search_.next();
  came_round_ = !asked_;
  asks_ = came_round_ ? arc : asks_ + 1;
  if (asked_) out.push_back(steal::send{*asked_, steal::ask{}});
}

void stealer::retry(steal_actions& out) {
  if (!resting()) return;
  asks_ = 0;
  ask_next(out);
}

// Case 1: the victim works and gave.
void stealer::on(rank_id from, steal::loan const& m, steal_actions& out) {
  if (!attendance_.active()) {
    out.push_back(steal::send{from, steal::not_held{{m.number}}});
    return;
  }
  debt_id const id = next_debt_++;
  debts_[id] = {.lender = from, .number = m.number};
  ++steals_;
  if (asked_ == from) asked_.reset();
  asks_ = 0;
  came_round_ = true;  // the next search is a new one
  search_.works(from);
  out.push_back(steal::accept{id});
  turn_to_work(out);
}

// Cases 2 and 3: the victim is idle, and perhaps knows a rank that is not.
void stealer::on(rank_id from, steal::nothing const& m, steal_actions& out) {
  if (asked_ != from) return;
  asked_.reset();
  if (m.busy)
    search_.shortcut(from, *m.busy);
  else
    search_.idle(from);
  ask_next(out);
}

// --- the victim

void stealer::on(rank_id from, steal::ask const& /*m*/, steal_actions& out) {
  if (!attendance_.active()) return;
  if (!current_)
    send_away(from, search_.knows_busy(), out);
  else if (std::find(thieves_.begin(), thieves_.end(), from) == thieves_.end())
    thieves_.push_back(from);
}

void stealer::send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const {
  out.push_back(steal::send{thief, steal::nothing{hint == thief ? std::nullopt : hint}});
}

void stealer::spare(debt_id id, steal_actions& out) {
  auto const of = debts_.find(id);
  if (thieves_.empty() || of == debts_.end() || draining()) return;
  rank_id const thief = thieves_.front();
  thieves_.pop_front();
  loan_id const number = next_loan_++;
  loans_[number] = {thief, id};
  ++of->second.loans;
  out.push_back(steal::send{thief, steal::loan{number}, id});
  search_.works(thief);
  // Half of those that wait go along with the tasks: so work spreads over n ranks in log n steps.
  for (auto n = thieves_.size() / 2; n > 0; --n) {
    send_away(thieves_.back(), thief, out);
    thieves_.pop_back();
  }
}

void stealer::nothing_to_spare(steal_actions& out) {
  for (rank_id const thief : std::exchange(thieves_, {})) send_away(thief, search_.knows_busy(), out);
}

// --- the borrower

void stealer::dry(debt_id id, steal_actions& out) {
  if (current_ != id) return;
  debts_[id].work = false;
  current_.reset();
  settle_if_done(id, out);
  turn_to_work(out);
}

void stealer::settle_if_done(debt_id id, steal_actions& out) {
  auto const& d = debts_.at(id);
  if (d.work || d.loans > 0 || returns_) return;
  if (d.lender == config_.self) {
    if (config_.records) out.push_back(steal::record{});
    out.push_back(steal::complete{});
  } else {
    out.push_back(steal::send{d.lender, steal::paid{d.number}, id});
  }
  debts_.erase(id);
}

void stealer::state(debt_id id, steal_actions& out) const {
  auto const at = debts_.find(id);
  if (at == debts_.end() || !attendance_.active()) return;
  auto const& d = at->second;
  if (d.lender == config_.self)
    out.push_back(steal::record{});
  else
    out.push_back(steal::send{d.lender, steal::worth{d.number}, id});
}

std::optional<debt_id> stealer::find(rank_id lender, loan_id number) const {
  for (auto const& [id, d] : debts_)
    if (d.lender == lender && d.number == number && lender != config_.self) return id;
  return std::nullopt;
}

void stealer::on(rank_id from, steal::held const& m, steal_actions& out) {
  steal::not_held answer;
  for (auto const number : m.loans)
    if (!find(from, number)) answer.loans.push_back(number);
  if (!answer.loans.empty()) out.push_back(steal::send{from, std::move(answer)});
}

void stealer::on(rank_id from, steal::revoke const& m, steal_actions& out) {
  auto const id = find(from, m.loan);
  if (!id) return;
  drop(*id, out);
  turn_to_work(out);
}

// The debt is void: nobody waits for its result, nor for those of its parts.
void stealer::drop(debt_id id, steal_actions& out) {
  for (auto it = loans_.begin(); it != loans_.end();) {
    if (it->second.of != id) {
      ++it;
      continue;
    }
    out.push_back(steal::send{it->second.borrower, steal::revoke{it->first}});
    out.push_back(steal::forget{it->first});
    it = loans_.erase(it);
  }
  debts_.erase(id);
  if (current_ == id) current_.reset();
  out.push_back(steal::drop{id});
}

// --- the lender

// Otherwise it was taken back, or is void.
bool stealer::has_lent(loan_id number, rank_id borrower) const {
  auto const at = loans_.find(number);
  return at != loans_.end() && at->second.borrower == borrower;
}

void stealer::on(rank_id from, steal::paid const& m, steal_actions& out) {
  if (!has_lent(m.loan, from)) return;
  auto const at = loans_.find(m.loan);
  debt_id const of = at->second.of;
  loans_.erase(at);
  --debts_.at(of).loans;
  out.push_back(steal::settle{m.loan, of});
  settle_if_done(of, out);
}

void stealer::on(rank_id from, steal::worth const& m, steal_actions& out) {
  if (has_lent(m.loan, from)) out.push_back(steal::restate{m.loan, loans_.at(m.loan).of});
}

void stealer::on(rank_id from, steal::returned const& m, steal_actions& out) {
  if (!has_lent(m.loan, from)) return;
  out.push_back(steal::restate{m.loan, loans_.at(m.loan).of});
  take_back(m.loan, out);
  turn_to_work(out);
}

void stealer::on(rank_id from, steal::not_held const& m, steal_actions& out) {
  for (auto const number : m.loans)
    if (has_lent(number, from)) {
      ++taken_back_;
      take_back(number, out);
    }
  turn_to_work(out);
}

void stealer::take_back(loan_id number, steal_actions& out) {
  auto const at = loans_.find(number);
  debt_id const of = at->second.of;
  loans_.erase(at);
  auto& d = debts_.at(of);
  --d.loans;
  d.work = true;
  out.push_back(steal::take_back{number, of});
}

// --- messages, losses, time

void stealer::on(rank_id from, steal_message const& m, steal_actions& out) {
  if (ended()) return;
  search_.alive(from);
  std::visit([&](auto const& own) { on(from, own, out); }, m);
}

void stealer::on(rank_id /*from*/, steal::progress const& /*m*/, steal_actions& /*out*/) {}  // for the engine

void stealer::on(rank_id /*from*/, call_message const& m, steal_actions& out) {
  bool const was_draining = draining();
  attendance_.on(m, out);
  if (auto const* s = std::get_if<stop>(&m); s != nullptr && !was_draining) leave_work(s->early);
}

void stealer::lost(rank_id rank, steal_actions& out) {
  if (ended() || rank == config_.self || attendance_.lost(rank, out)) return;
  search_.lost(rank);
  // It may be alive, and then must not wait for an answer forever.
  if (std::erase(thieves_, rank) > 0) send_away(rank, std::nullopt, out);
  std::vector<debt_id> void_debts;
  for (auto const& [id, d] : debts_)
    if (d.lender == rank) void_debts.push_back(id);
  for (auto const id : void_debts) drop(id, out);
  std::vector<loan_id> its;
  for (auto const& [number, l] : loans_)
    if (l.borrower == rank) its.push_back(number);
  for (auto const number : its) {
    ++taken_back_;
    take_back(number, out);
    out.push_back(steal::send{rank, steal::revoke{number}});
  }
  if (asked_ == rank) asked_.reset();
  turn_to_work(out);
}

void stealer::tick(steal_actions& out) {
  if (ended()) return;
  std::map<rank_id, std::vector<loan_id>> lent;
  for (auto const& [number, l] : loans_) lent[l.borrower].push_back(number);
  for (auto& [borrower, numbers] : lent)
    out.push_back(steal::send{borrower, steal::held{std::move(numbers)}});
}

// --- the end

void stealer::leave_work(bool returns) {
  returns_ = returns;
  if (!returns) {
    debts_.clear();
    loans_.clear();
  }
  thieves_.clear();
  current_.reset();
  asked_.reset();
}

// Those of which nothing is lent on. A debt is younger than the one that it was lent of, so none waits for
// itself, by however many ranks.
void stealer::return_debts(steal_actions& out) {
  for (auto it = debts_.begin(); it != debts_.end();) {
    auto const [id, d] = *it;
    if (d.loans > 0) {
      ++it;
      continue;
    }
    it = debts_.erase(it);
    if (d.lender == config_.self) {
      if (config_.records) out.push_back(steal::record{});
      out.push_back(steal::complete{});
    } else {
      out.push_back(steal::send{d.lender, steal::returned{d.number}, id});
    }
  }
}

void stealer::failed(std::uint64_t number, std::string text, steal_actions& out) {
  if (ended()) return;
  attendance_.failed(number, std::move(text), out);
  if (returns_) out.push_back(drain{});  // it was draining to return its debts: nothing of them counts now
  leave_work(false);
}

void stealer::quiet(steal_actions& out) {
  if (!attendance_.awaited()) return;
  return_debts(out);
  if (debts_.empty()) attendance_.quiet(out);
}

std::uint64_t stealer::hash() const {
  digest d;
  search_.hash(d);
  d.add(asks_).add(came_round_);
  for (auto const& [id, x] : debts_)
    d.add(id).add(static_cast<std::uint64_t>(x.lender)).add(x.number).add(x.loans * 2 + (x.work ? 1 : 0));
  d.add(debts_.size());
  for (auto const& [number, x] : loans_) d.add(number).add(static_cast<std::uint64_t>(x.borrower)).add(x.of);
  d.add(loans_.size()).add(next_debt_).add(next_loan_);
  d.add(current_ ? *current_ + 1 : 0).add(asked_ ? static_cast<std::uint64_t>(*asked_) + 1 : 0);
  for (auto const t : thieves_) d.add(static_cast<std::uint64_t>(t));
  d.add(thieves_.size()).add(returns_);
  attendance_.hash(d);
  return d.value();
}

}  // namespace skel::role
