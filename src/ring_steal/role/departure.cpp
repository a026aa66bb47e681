#include "ring_steal/role/departure.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

void departure::call_off(lender const& loans, steal_actions& out) {
  leaves_ = false;
  for (auto& [number, r] : asked_) {
    auto const* const l = loans.book().find(number);
    if (!std::exchange(r.silent, false) || l == nullptr || !l->borrower) continue;
    ++r.unheard;
    out.push_back(steal::send{*l->borrower, steal::inherits{number, self_}});
  }
}

void departure::hand_over(lender& loans, borrower& debts, steal_actions& out) {
  std::vector<debt_id> ready;
  for (auto const& [id, d] : debts.all()) {
    bool all_silent = true;
    for (auto const number : loans.book().parts_of(id)) {
      auto const borrower = loans.book()[number].borrower;
      if (borrower && !std::exchange(asked_[number].silent, true)) {
        ++asked_[number].unheard;
        out.push_back(steal::send{*borrower, steal::moves{number}});
      }
      all_silent = all_silent && is_silent(loans, number);
    }
    if (all_silent && !d.silent) ready.push_back(id);
  }
  for (auto const id : ready) bequeath(id, loans, debts, out);
}

bool departure::is_silent(lender const& loans, loan_id number) const {
  auto const at = asked_.find(number);
  return loans.book()[number].borrower && at != asked_.end() && at->second.silent && at->second.unheard == 0;
}

void departure::bequeath(debt_id id, lender& loans, borrower& debts, steal_actions& out) {
  auto const& d = *debts.find(id);
  steal::bequeaths all{d.number, d.work, d.suspect, {}};
  for (auto const number : loans.book().parts_of(id)) {
    auto const& l = loans.book()[number];
    all.loans.push_back({*l.borrower, number, l.again || d.suspect});
    unheard_.push_back({*l.borrower, number, d.lender, d.number});
    asked_.erase(number);
  }
  unheard_.push_back({d.lender, d.number, d.lender, d.number});
  out.push_back(steal::send{d.lender, std::move(all), id});
  loans.drop(id, debts, out, true);
}

void departure::on(rank_id from, steal::heard const& m) {
  auto const at = asked_.find(m.loan);
  if (at != asked_.end())
    --at->second.unheard;
  else
    std::erase_if(unheard_, [&](part const& p) { return p.by == from && p.number == m.loan; });
}

// The lender did not hold this loan any more.
void departure::on(rank_id from, steal::revoke const& m, steal_actions& out) {
  revoke_if([&](part const& p) { return p.heir == from && p.of == m.loan; }, out);
}

void departure::lost(rank_id rank, steal_actions& out) {
  std::erase_if(unheard_, [&](part const& p) { return p.by == rank; });
  revoke_if([&](part const& p) { return p.heir == rank; }, out);
}

// What they would have inherited is void. A borrower that has another lender already does not mind.
template <class Void>
void departure::revoke_if(Void const& is_void, steal_actions& out) {
  std::erase_if(unheard_, [&](part const& p) {
    if (!is_void(p)) return false;
    if (p.number != p.of) out.push_back(steal::send{p.by, steal::revoke{p.number}});
    return true;
  });
}

}  // namespace skel::role
