#include "ring_steal/role/member.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

steal_member::steal_member(steal_member_config const& config)
    : config_(config),
      thief_(config_.self, config_.root, config_.ranks, config_.order),
      lent_(config_.most_losses),
      bounds_(config_.self, config_.ranks),
      attendance_(config_.self, config_.root) {}

void steal_member::begin(steal_actions& out) {
  out.push_back(tell_root{hello{config_.call_hash}});
  if (config_.self == config_.root) debts_[next_debt_++] = {.lender = config_.self};
  turn_to_work(out);
}

// --- the thief

// Starts the next debt with tasks, or asks a rank for tasks.
void steal_member::turn_to_work(steal_actions& out) {
  if (!hungry()) return;
  auto const ready =
      std::find_if(debts_.begin(), debts_.end(), [](auto const& entry) { return entry.second.work; });
  if (ready != debts_.end()) return work_on(ready->first, out);
  nothing_to_spare(out);
  thief_.ask_next(bounds_.best(), out);
}

void steal_member::work_on(debt_id id, steal_actions& out) {
  current_ = id;
  auto const& d = debts_.at(id);
  if (d.alone) out.push_back(steal::send{d.lender, steal::begins{d.number, d.lost}});
  out.push_back(steal::work{id});
}

void steal_member::retry(steal_actions& out) {
  if (!resting()) return;
  thief_.rested();
  thief_.ask_next(bounds_.best(), out);
}

void steal_member::on(rank_id from, steal::loan const& m, steal_actions& out) {
  bounds_.hear(m.bound);
  if (!attendance_.active()) {
    out.push_back(steal::send{from, steal::not_held{{m.number}}});
    return;
  }
  debt_id const id = next_debt_++;
  debts_[id] = {.lender = from, .number = m.number, .suspect = m.suspect, .alone = m.again};
  met_suspects_ = met_suspects_ || m.suspect;
  ++steals_;
  thief_.succeeded(from);
  out.push_back(steal::accept{id});
  turn_to_work(out);
}

void steal_member::on(rank_id from, steal::nothing const& m, steal_actions& out) {
  if (thief_.refused(from, m.busy) && hungry()) thief_.ask_next(bounds_.best(), out);
}

// --- the victim

void steal_member::on(rank_id from, steal::ask const& m, steal_actions& out) {
  bounds_.hear(m.bound);
  if (!attendance_.active()) return;
  auto const parcel = may_borrow_parcels(from) ? lent_.next_parcel(from) : std::nullopt;
  if (parcel)
    lend_again(*parcel, from, out);
  else if (!current_)
    send_away(from, thief_.knows_busy(), out);
  else if (std::find(thieves_.begin(), thieves_.end(), from) == thieves_.end())
    thieves_.push_back(from);
}

void steal_member::send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const {
  out.push_back(steal::send{thief, steal::nothing{hint == thief ? std::nullopt : hint}});
}

bool steal_member::may_have(rank_id thief, debt const& d) const {
  return !d.alone && !(d.suspect && thief == config_.root);
}

bool steal_member::may_spare(debt_id id) const {
  auto const of = debts_.find(id);
  return of != debts_.end() &&
         std::any_of(thieves_.begin(), thieves_.end(), [&](rank_id r) { return may_have(r, of->second); });
}

void steal_member::spare(debt_id id, steal_actions& out) {
  auto const of = debts_.find(id);
  if (of == debts_.end() || draining()) return;
  auto& d = of->second;
  auto const at = std::find_if(thieves_.begin(), thieves_.end(), [&](rank_id r) { return may_have(r, d); });
  if (at == thieves_.end()) return;
  rank_id const thief = *at;
  thieves_.erase(at);
  loan_id const number = lent_.lend(thief, id);
  ++d.loans;
  out.push_back(steal::send{thief, steal::loan{number, d.suspect, false, bounds_.best()}, id});
  thief_.knows(thief);
  // Half of the waiting thieves move on to the new borrower, so work reaches n ranks in log n
  // steps.
  for (auto n = thieves_.size() / 2; n > 0; --n) {
    send_away(thieves_.back(), thief, out);
    thieves_.pop_back();
  }
}

void steal_member::nothing_to_spare(steal_actions& out) {
  for (rank_id const thief : std::exchange(thieves_, {})) send_away(thief, thief_.knows_busy(), out);
}

// --- the borrower

void steal_member::dry(debt_id id, steal_actions& out) {
  if (current_ != id) return;
  auto& d = debts_[id];
  d.work = false;
  current_.reset();
  // The rest of this debt is lent on, so the next work of this rank does not belong to it.
  if (d.suspect && d.loans > 0) state(id, out);
  settle_if_done(id, out);
  turn_to_work(out);
}

void steal_member::settle_if_done(debt_id id, steal_actions& out) {
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

void steal_member::state(debt_id id, steal_actions& out) {
  auto const at = debts_.find(id);
  if (at == debts_.end() || !attendance_.active()) return;
  auto& d = at->second;
  d.alone = false;
  d.lost.clear();
  if (d.lender == config_.self)
    out.push_back(steal::record{});
  else
    out.push_back(steal::send{d.lender, steal::worth{d.number}, id});
}

bool steal_member::suspect(debt_id id) const {
  if (!met_suspects_) return false;
  auto const at = debts_.find(id);
  return at != debts_.end() && at->second.suspect;
}

std::optional<debt_id> steal_member::find(rank_id lender, loan_id number) const {
  for (auto const& [id, d] : debts_)
    if (d.lender == lender && d.number == number && lender != config_.self) return id;
  return std::nullopt;
}

void steal_member::on(rank_id from, steal::held const& m, steal_actions& out) {
  steal::not_held answer;
  for (auto const number : m.loans)
    if (!find(from, number)) answer.loans.push_back(number);
  if (!answer.loans.empty()) out.push_back(steal::send{from, std::move(answer)});
}

void steal_member::on(rank_id from, steal::revoke const& m, steal_actions& out) {
  auto const id = find(from, m.loan);
  if (!id) return;
  drop(*id, out);
  turn_to_work(out);
}

// The debt is void: neither its result nor the results of its loans are awaited.
void steal_member::drop(debt_id id, steal_actions& out) {
  for (auto const number : lent_.parts_of(id)) {
    auto const borrower = lent_.close(number).borrower;
    if (borrower) out.push_back(steal::send{*borrower, steal::revoke{number}});
    out.push_back(steal::forget{number});
  }
  debts_.erase(id);
  if (current_ == id) current_.reset();
  out.push_back(steal::drop{id});
}

// --- the lender

void steal_member::on(rank_id from, steal::paid const& m, steal_actions& out) {
  if (lent_.find(m.loan, from) == nullptr) return;
  debt_id const of = lent_.close(m.loan).of;
  --debts_.at(of).loans;
  out.push_back(steal::settle{m.loan, of});
  settle_if_done(of, out);
}

void steal_member::on(rank_id from, steal::begins const& m, steal_actions& /*out*/) {
  if (lent_.find(m.loan, from) != nullptr) lent_.begun(m.loan, m.lost);
}

void steal_member::on(rank_id from, steal::worth const& m, steal_actions& out) {
  auto const* const l = lent_.find(m.loan, from);
  if (l == nullptr) return;
  lent_.stated(m.loan);
  out.push_back(steal::restate{m.loan, l->of});
}

void steal_member::on(rank_id from, steal::returned const& m, steal_actions& out) {
  auto const* const l = lent_.find(m.loan, from);
  if (l == nullptr) return;
  out.push_back(steal::restate{m.loan, l->of});
  take_back(m.loan, out);
  turn_to_work(out);
}

void steal_member::on(rank_id from, steal::not_held const& m, steal_actions& out) {
  for (auto const number : m.loans) {
    auto const* const l = lent_.find(number, from);
    if (l == nullptr) continue;
    ++taken_back_;
    if (l->again && attendance_.active())
      set_apart(number, std::nullopt, out);
    else
      take_back(number, out);
  }
  place_parcels(out);
  turn_to_work(out);
}

void steal_member::take_back(loan_id number, steal_actions& out) {
  debt_id const of = lent_.close(number).of;
  auto& d = debts_.at(of);
  --d.loans;
  d.work = true;
  out.push_back(steal::take_back{number, of});
}

// --- parcels

void steal_member::set_apart(loan_id number, std::optional<rank_id> lost, steal_actions& out) {
  lent_.set_apart(number, lost);
  out.push_back(steal::set_apart{number, lent_[number].of});
}

loan_book::pieces steal_member::cut(loan_id loan, std::uint64_t tasks, steal_actions& out) {
  auto const all = lent_.cut(loan, tasks, config_.most_parcels);
  if (all.count == 0) return all;
  debts_.at(lent_[loan].of).loans += all.count - 1;
  place_parcels(out);
  turn_to_work(out);
  return all;
}

void steal_member::lend_again(loan_id parcel, rank_id to, steal_actions& out) {
  loan_id const number = lent_.lend_again(parcel, to);
  out.push_back(steal::lend_again{parcel, to, {number, true, true, bounds_.best()}});
  thief_.knows(to);
}

bool steal_member::may_borrow_parcels(rank_id r) const {
  return r != config_.self && r != config_.root && !thief_.lost_ranks().contains(r);
}

template <class Suits>
std::optional<rank_id> steal_member::first_rank(Suits const& suits) const {
  for (rank_id r = 0; r < config_.ranks; ++r)
    if (suits(r)) return r;
  return std::nullopt;
}

// Lends to waiting thieves; other ranks get a parcel when they ask.
void steal_member::place_parcels(steal_actions& out) {
  if (!attendance_.active()) return;
  bool const no_other = !first_rank([&](rank_id r) { return may_borrow_parcels(r); });
  lent_.only_the_root_is_left(no_other && config_.self == config_.root);
  if (!lent_.next_parcel()) return;
  if (no_other) {
    while (auto const parcel = lent_.next_parcel()) run_parcel(*parcel, out);
    return;
  }
  std::erase_if(thieves_, [&](rank_id thief) {
    auto const parcel = may_borrow_parcels(thief) ? lent_.next_parcel(thief) : std::nullopt;
    if (parcel) lend_again(*parcel, thief, out);
    return parcel.has_value();
  });
}

// No rank has asked: none is idle, or the idle ranks do not reach this one. A busy rank gets the
// parcels and runs them later.
void steal_member::push_parcels(steal_actions& out) {
  for (auto const parcel : lent_.overdue()) {
    auto const to = first_rank([&](rank_id r) { return may_borrow_parcels(r) && !lent_.has_parcel(r); });
    if (!to) return;
    lend_again(parcel, *to, out);
  }
}

// No other rank can run it. The lender learns which ranks were lost with it, in case this rank is
// next.
void steal_member::run_parcel(loan_id parcel, steal_actions& out) {
  auto const l = lent_[parcel];
  take_back(parcel, out);
  auto& d = debts_.at(l.of);
  if (d.lender == config_.self) return;  // the root is alone
  d.suspect = d.alone = met_suspects_ = true;
  d.lost.insert(d.lost.end(), l.lost.begin(), l.lost.end());
  if (current_ == l.of) work_on(l.of, out);
}

// --- bounds

void steal_member::spread(steal_actions& out) {
  if (attendance_.active()) bounds_.spread(thief_.lost_ranks(), out);
}

void steal_member::on(rank_id /*from*/, steal::better const& m, steal_actions& /*out*/) {
  bounds_.hear(m.bound, m.reach);
}

// --- messages, losses, time

void steal_member::on(rank_id from, steal_message const& m, steal_actions& out) {
  if (ended()) return;
  thief_.heard(from);
  lent_.heard(from);
  std::visit([&](auto const& own) { on(from, own, out); }, m);
}

void steal_member::on(rank_id /*from*/, steal::progress const& /*m*/, steal_actions& /*out*/) {
}  // for the engine

void steal_member::on(rank_id /*from*/, call_message const& m, steal_actions& out) {
  bool const was_draining = draining();
  attendance_.on(m, out);
  auto const* const s = std::get_if<stop>(&m);
  if (s == nullptr || was_draining) return;
  if (s->early)
    for (auto const parcel : lent_.parcels()) take_back(parcel, out);
  leave_work(s->early);
}

void steal_member::lost(rank_id rank, steal_actions& out) {
  if (ended() || rank == config_.self || attendance_.lost(rank, out)) return;
  thief_.lost(rank);
  // The rank may be alive and must not wait forever for an answer.
  if (std::erase(thieves_, rank) > 0) send_away(rank, std::nullopt, out);
  std::vector<debt_id> void_debts;
  for (auto const& [id, d] : debts_)
    if (d.lender == rank) void_debts.push_back(id);
  for (auto const id : void_debts) drop(id, out);
  for (auto const number : lent_.borrowed_by(rank)) {
    ++taken_back_;
    if (attendance_.active())
      set_apart(number, rank, out);
    else
      take_back(number, out);
    out.push_back(steal::send{rank, steal::revoke{number}});
  }
  lent_.lost(rank);
  place_parcels(out);
  turn_to_work(out);
}

void steal_member::tick(steal_actions& out) {
  if (ended()) return;
  for (auto& [borrower, numbers] : lent_.by_borrower())
    out.push_back(steal::send{borrower, steal::held{std::move(numbers)}});
  if (!attendance_.active()) return;
  place_parcels(out);
  push_parcels(out);
  bounds_.tick(thief_.lost_ranks());
  turn_to_work(out);
  if (auto const guilty = lent_.tick())
    out.push_back(tell_root{
        blamed{guilty->work, guilty->ranks, guilty->more,
               "loan " + std::to_string(guilty->work) + " of rank " + std::to_string(config_.self)}});
}

// --- the end

void steal_member::leave_work(bool returns) {
  returns_ = returns;
  if (!returns) {
    debts_.clear();
    lent_.clear();
  }
  thieves_.clear();
  current_.reset();
  thief_.forget();
}

// Returns debts without outstanding loans first. A debt is younger than the one it was lent from,
// so there are no cycles.
void steal_member::return_debts(steal_actions& out) {
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

void steal_member::failed(std::uint64_t number, std::string text, steal_actions& out) {
  if (ended()) return;
  attendance_.failed(number, std::move(text), out);
  if (returns_) out.push_back(drain{});  // was draining to return its debts; they are now irrelevant
  leave_work(false);
}

void steal_member::quiet(steal_actions& out) {
  if (!attendance_.awaited()) return;
  return_debts(out);
  if (debts_.empty()) attendance_.quiet(out);
}

}  // namespace skel::role
