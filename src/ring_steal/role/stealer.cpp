#include "ring_steal/role/stealer.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

using kind = peer_message_kind;

stealer::stealer(stealer_config config)
    : config_(std::move(config)),
      search_(config_.self, std::make_shared<std::vector<rank_id> const>(config_.ranks), config_.order) {
  search_.works(config_.root);  // all work begins there
}

void stealer::tell(rank_id to, kind what, std::uint64_t number, steal_actions& out) const {
  out.push_back(loan_action::send{to, {.kind = what, .number = number}, 0});
}

void stealer::begin(steal_actions& out) {
  tell(config_.root, kind::hello, config_.call_hash, out);
  if (config_.self == config_.root) debts_[next_debt_++] = {.lender = config_.self};
  turn_to_work(out);
}

// --- the thief

// The next debt with tasks, or somebody to ask for some.
void stealer::turn_to_work(steal_actions& out) {
  if (current_ || draining_ || ended_) return;
  auto const ready =
      std::find_if(debts_.begin(), debts_.end(), [](auto const& entry) { return entry.second.work; });
  if (ready != debts_.end()) {
    current_ = ready->first;
    out.push_back(loan_action::work{*current_});
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
  if (asked_) tell(*asked_, kind::ask, 0, out);
}

void stealer::retry(steal_actions& out) {
  if (!resting()) return;
  asks_ = 0;
  ask_next(out);
}

// Case 1: the victim works and gave.
void stealer::on_loan(rank_id from, loan_id number, steal_actions& out) {
  debt_id const id = next_debt_++;
  debts_[id] = {.lender = from, .number = number};
  ++steals_;
  if (asked_ == from) asked_.reset();
  asks_ = 0;
  came_round_ = true;  // the next search is a new one
  search_.works(from);
  out.push_back(loan_action::accept{id});
  turn_to_work(out);
}

// --- the victim

// Cases 2 and 3: idle, and perhaps knows who is not.
void stealer::send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const {
  bool const useful = hint && *hint != thief;
  tell(thief, kind::nothing, useful ? static_cast<std::uint64_t>(*hint) + 1 : 0, out);
}

void stealer::spare(debt_id id, steal_actions& out) {
  auto const of = debts_.find(id);
  if (thieves_.empty() || of == debts_.end() || draining_) return;
  rank_id const thief = thieves_.front();
  thieves_.pop_front();
  loan_id const number = next_loan_++;
  loans_[number] = {thief, id};
  ++of->second.loans;
  out.push_back(loan_action::send{thief, {.kind = kind::loan, .number = number}, id});
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
    if (config_.records) out.push_back(loan_action::record{});
    out.push_back(loan_action::complete{});
  } else {
    out.push_back(loan_action::send{d.lender, {.kind = kind::paid, .number = d.number}, id});
  }
  debts_.erase(id);
}

void stealer::state(debt_id id, steal_actions& out) const {
  auto const at = debts_.find(id);
  if (at == debts_.end() || draining_ || ended_) return;
  auto const& d = at->second;
  if (d.lender == config_.self)
    out.push_back(loan_action::record{});
  else
    out.push_back(loan_action::send{d.lender, {.kind = kind::worth, .number = d.number}, id});
}

std::optional<debt_id> stealer::find(rank_id lender, loan_id number) const {
  for (auto const& [id, d] : debts_)
    if (d.lender == lender && d.number == number && lender != config_.self) return id;
  return std::nullopt;
}

void stealer::on_held(rank_id from, std::vector<loan_id> const& numbers, steal_actions& out) const {
  peer_message answer{.kind = kind::not_held};
  for (auto const number : numbers)
    if (!find(from, number)) answer.ids.push_back(number);
  if (!answer.ids.empty()) out.push_back(loan_action::send{from, std::move(answer), 0});
}

// The debt is void: nobody waits for its result, nor for those of its parts.
void stealer::drop(debt_id id, steal_actions& out) {
  for (auto it = loans_.begin(); it != loans_.end();) {
    if (it->second.of != id) {
      ++it;
      continue;
    }
    tell(it->second.borrower, kind::revoke, it->first, out);
    out.push_back(loan_action::forget{it->first});
    it = loans_.erase(it);
  }
  debts_.erase(id);
  if (current_ == id) current_.reset();
  out.push_back(loan_action::drop{id});
}

// --- the lender

// Otherwise it was taken back, or is void.
bool stealer::has_lent(loan_id number, rank_id borrower) const {
  auto const at = loans_.find(number);
  return at != loans_.end() && at->second.borrower == borrower;
}

void stealer::on_paid(rank_id from, loan_id number, steal_actions& out) {
  if (!has_lent(number, from)) return;
  auto const at = loans_.find(number);
  debt_id const of = at->second.of;
  loans_.erase(at);
  --debts_.at(of).loans;
  out.push_back(loan_action::settle{number, of});
  settle_if_done(of, out);
}

void stealer::take_back(loan_id number, steal_actions& out) {
  auto const at = loans_.find(number);
  debt_id const of = at->second.of;
  loans_.erase(at);
  auto& d = debts_.at(of);
  --d.loans;
  d.work = true;
  out.push_back(loan_action::take_back{number, of});
}

void stealer::on_returned(rank_id from, loan_id number, steal_actions& out) {
  if (!has_lent(number, from)) return;
  out.push_back(loan_action::restate{number, loans_.at(number).of});
  take_back(number, out);
  turn_to_work(out);
}

// --- messages, losses, time

void stealer::on(rank_id from, peer_message const& m, steal_actions& out) {
  if (ended_) return;
  search_.alive(from);
  switch (m.kind) {
    case kind::ask:
      if (draining_) break;
      if (!current_)
        send_away(from, search_.knows_busy(), out);
      else if (std::find(thieves_.begin(), thieves_.end(), from) == thieves_.end())
        thieves_.push_back(from);
      break;
    case kind::nothing: {
      if (asked_ != from) break;
      asked_.reset();
      if (m.number > 0)
        search_.shortcut(from, static_cast<rank_id>(m.number - 1));
      else
        search_.idle(from);
      ask_next(out);
      break;
    }
    case kind::loan:
      if (!draining_)
        on_loan(from, m.number, out);
      else
        out.push_back(loan_action::send{from, {.kind = kind::not_held, .ids = {m.number}}, 0});
      break;
    case kind::worth:
      if (has_lent(m.number, from)) out.push_back(loan_action::restate{m.number, loans_.at(m.number).of});
      break;
    case kind::returned_loan:
      on_returned(from, m.number, out);
      break;
    case kind::paid:
      on_paid(from, m.number, out);
      break;
    case kind::held:
      on_held(from, m.ids, out);
      break;
    case kind::not_held:
      for (auto const number : m.ids)
        if (has_lent(number, from)) {
          ++taken_back_;
          take_back(number, out);
        }
      turn_to_work(out);
      break;
    case kind::revoke:
      if (auto const id = find(from, m.number)) {
        drop(*id, out);
        turn_to_work(out);
      }
      break;
    case kind::stop:
      stop_heard_ = true;
      start_draining(m.number == 1, out);
      break;
    case kind::finish:
      ended_ = true;
      out.push_back(end{m.result.value_or(outcome{})});
      break;
    case kind::abort:
      ended_ = true;
      out.push_back(fail{fail::reason::protocol, m.text});
      break;
    default:
      break;  // for the root's roll call
  }
}

void stealer::lost(rank_id rank, steal_actions& out) {
  if (ended_ || rank == config_.self) return;
  if (rank == config_.root) {
    ended_ = true;
    out.push_back(fail{fail::reason::lost_root, {}});
    return;
  }
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
    tell(rank, kind::revoke, number, out);
  }
  if (asked_ == rank) asked_.reset();
  turn_to_work(out);
}

void stealer::tick(steal_actions& out) {
  if (ended_) return;
  std::map<rank_id, std::vector<loan_id>> lent;
  for (auto const& [number, l] : loans_) lent[l.borrower].push_back(number);
  for (auto& [borrower, numbers] : lent)
    out.push_back(loan_action::send{borrower, {.kind = kind::held, .ids = std::move(numbers)}, 0});
}

// --- the end

void stealer::start_draining(bool keeps, steal_actions& out) {
  if (draining_ && (keeps || !returns_)) return;
  draining_ = true;
  returns_ = keeps;
  if (!keeps) {
    debts_.clear();
    loans_.clear();
  }
  thieves_.clear();
  current_.reset();
  asked_.reset();
  out.push_back(loan_action::drain{keeps});
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
      if (config_.records) out.push_back(loan_action::record{});
      out.push_back(loan_action::complete{});
    } else {
      out.push_back(loan_action::send{d.lender, {.kind = kind::returned_loan, .number = d.number}, id});
    }
  }
}

void stealer::failed(std::uint64_t number, std::string text, steal_actions& out) {
  if (ended_) return;
  out.push_back(
      loan_action::send{config_.root, {.kind = kind::failed, .number = number, .text = std::move(text)}, 0});
  start_draining(false, out);
}

void stealer::please_stop(steal_actions& out) {
  if (!ended_ && !draining_) tell(config_.root, kind::please_stop, 0, out);
}

void stealer::quiet(steal_actions& out) {
  if (!stop_heard_ || told_stopped_ || ended_) return;
  return_debts(out);
  if (!debts_.empty()) return;
  told_stopped_ = true;
  tell(config_.root, kind::stopped, 0, out);
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
  d.add(thieves_.size()).add(draining_).add(returns_).add(stop_heard_).add(told_stopped_).add(ended_);
  return d.value();
}

}  // namespace skel::role
