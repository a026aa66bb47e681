#include "ring_steal/role/borrower.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

debt_id borrower::open(steal_debt d) {
  met_suspects_ = met_suspects_ || d.suspect;
  debts_[next_] = std::move(d);
  return next_++;
}

bool borrower::turn_to_work(steal_actions& out) {
  auto const ready =
      std::find_if(debts_.begin(), debts_.end(), [](auto const& entry) { return entry.second.work; });
  if (ready == debts_.end()) return false;
  work_on(ready->first, out);
  return true;
}

void borrower::work_on(debt_id id, steal_actions& out) {
  current_ = id;
  auto const& d = debts_.at(id);
  if (d.alone && !d.silent) out.push_back(steal::send{d.lender, steal::begins{d.number, d.lost}});
  out.push_back(steal::work{id});
}

void borrower::dry(steal_actions& out) {
  auto const id = *std::exchange(current_, std::nullopt);
  auto& d = debts_.at(id);
  d.work = false;
  // The rest of this debt is lent on, so the next work of this rank does not belong to it.
  if (d.suspect && d.loans > 0) state(id, out);
  settle_if_done(id, out);
}

void borrower::take_back(debt_id id) {
  auto& d = debts_.at(id);
  --d.loans;
  d.work = true;
}

// The lender learns which ranks were lost with the parcel, in case this rank is next.
void borrower::run_parcel(debt_id id, std::vector<rank_id> const& lost, steal_actions& out) {
  auto& d = debts_.at(id);
  if (d.lender == self_) return;  // the root is alone
  d.suspect = d.alone = met_suspects_ = true;
  d.lost.insert(d.lost.end(), lost.begin(), lost.end());
  if (current_ == id) work_on(id, out);
}

void borrower::loan_paid(debt_id id, steal_actions& out) {
  --debts_.at(id).loans;
  settle_if_done(id, out);
}

void borrower::settle_if_done(debt_id id, steal_actions& out) {
  auto const& d = debts_.at(id);
  if (d.work || d.loans > 0 || d.silent || returns_) return;
  end(id, d, false, out);
  debts_.erase(id);
}

void borrower::end(debt_id id, steal_debt const& d, bool returned, steal_actions& out) const {
  if (d.lender == self_) {
    if (records_) out.push_back(steal::record{});
    out.push_back(steal::complete{});
  } else if (returned) {
    out.push_back(steal::send{d.lender, steal::returned{d.number}, id});
  } else {
    out.push_back(steal::send{d.lender, steal::paid{d.number}, id});
  }
}

void borrower::state(debt_id id, steal_actions& out) {
  auto* const d = find(id);
  if (d == nullptr || d->silent || returns_) return;
  d->alone = false;
  d->lost.clear();
  if (d->lender == self_)
    out.push_back(steal::record{});
  else
    out.push_back(steal::send{d->lender, steal::worth{d->number}, id});
}

void borrower::on(rank_id from, steal::held const& m, steal_actions& out) const {
  steal::not_held answer;
  for (auto const number : m.loans)
    if (!find(from, number)) answer.loans.push_back(number);
  if (!answer.loans.empty()) out.push_back(steal::send{from, std::move(answer)});
}

void borrower::on(rank_id from, steal::moves const& m, steal_actions& out) {
  auto const id = find(from, m.loan);
  if (!id) return out.push_back(steal::send{from, steal::not_held{{m.loan}}});
  debts_.at(*id).silent = true;
  out.push_back(steal::send{from, steal::heard{m.loan}});
}

void borrower::on(rank_id from, steal::inherits const& m, steal_actions& out) {
  out.push_back(steal::send{m.of, steal::heard{m.loan}});
  auto const id = find(m.of, m.loan);
  if (!id) return out.push_back(steal::send{from, steal::not_held{{m.loan}}});
  auto& d = debts_.at(*id);
  d.lender = from;
  d.silent = false;
  if (d.alone && current_ == id) work_on(*id, out);
  settle_if_done(*id, out);
}

void borrower::absorb(debt_id id, debt_id into) {
  auto const d = debts_.extract(id);
  auto const& own = d.mapped();
  auto& all = debts_.at(into);
  all.loans += own.loans;
  --all.loans;  // the debt itself
  all.work = all.work || own.work;
  all.suspect = all.suspect || own.suspect;
  all.alone = all.alone || own.alone;
  all.lost.insert(all.lost.end(), own.lost.begin(), own.lost.end());
  if (current_ == id) current_ = into;
}

void borrower::drop(debt_id id, steal_actions& out) {
  debts_.erase(id);
  if (current_ == id) current_.reset();
  out.push_back(steal::drop{id});
}

void borrower::leave(bool returns) {
  returns_ = returns;
  if (!returns) debts_.clear();
  current_.reset();
}

bool borrower::return_debts(steal_actions& out) {
  for (auto it = debts_.begin(); it != debts_.end();) {
    auto const& [id, d] = *it;
    bool const ends = d.loans == 0 && !d.silent;
    if (ends) end(id, d, true, out);
    it = ends ? debts_.erase(it) : std::next(it);
  }
  return debts_.empty();
}

std::optional<debt_id> borrower::find(rank_id lender, loan_id number) const {
  for (auto const& [id, d] : debts_)
    if (d.lender == lender && d.number == number && lender != self_) return id;
  return std::nullopt;
}

std::vector<debt_id> borrower::owed_to(rank_id lender) const {
  std::vector<debt_id> all;
  for (auto const& [id, d] : debts_)
    if (d.lender == lender) all.push_back(id);
  return all;
}

steal_debt* borrower::find(debt_id id) {
  auto const at = debts_.find(id);
  return at == debts_.end() ? nullptr : &at->second;
}
steal_debt const* borrower::find(debt_id id) const {
  auto const at = debts_.find(id);
  return at == debts_.end() ? nullptr : &at->second;
}

bool borrower::suspect(debt_id id) const {
  if (!met_suspects_) return false;
  auto const* const d = find(id);
  return d != nullptr && d->suspect;
}

}  // namespace skel::role
