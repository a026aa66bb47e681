#include "ring_steal/role/lender.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace skel::role {

loan_id loan_book::lend(rank_id to, debt_id of) {
  loan_id const number = std::exchange(next_, next_ + step_);
  loans_[number] = {.borrower = to, .of = of, .origin = number};
  return number;
}

loan_book::loan const* loan_book::find(loan_id number) const {
  auto const at = loans_.find(number);
  return at == loans_.end() ? nullptr : &at->second;
}
loan_book::loan const* loan_book::find(loan_id number, rank_id borrower) const {
  auto const* const l = find(number);
  return l != nullptr && l->borrower == borrower ? l : nullptr;
}

void loan_book::absorb(debt_id own, debt_id of) {
  for (auto& [number, l] : loans_)
    if (l.of == own) l.of = of;
}

loan_book::loan loan_book::close(loan_id number) {
  auto const l = loans_.extract(number);
  suspects_.acquit(l.mapped().origin);
  return std::move(l.mapped());
}

void loan_book::clear() {
  for (auto const& [number, l] : loans_) suspects_.acquit(l.origin);
  loans_.clear();
}

void loan_book::begun(loan_id number, std::vector<rank_id> const& lost) {
  auto& l = loans_.at(number);
  for (rank_id const r : lost) {
    suspects_.add(l.origin, r, true, false);
    l.lost.push_back(r);
  }
  if (suspects_.contains(l.origin)) suspects_.given(l.origin, *l.borrower);
}

void loan_book::stated(loan_id number) {
  auto& l = loans_.at(number);
  suspects_.acquit(l.origin);
  l.lost.clear();
  l.watched = l.single = false;
}

void loan_book::set_apart(loan_id number, std::optional<rank_id> lost) {
  auto& l = loans_.at(number);
  l.borrower.reset();
  l.whole = true;
  if (!lost) return;
  suspects_.add(l.origin, *lost, true, l.single && suspects_.holds(*lost, l.origin));
  l.lost.push_back(*lost);
}

loan_book::pieces loan_book::cut(loan_id number, std::uint64_t tasks, std::uint64_t most) {
  auto const at = loans_.find(number);
  if (at == loans_.end()) return {};
  auto& l = at->second;
  pieces const all{std::clamp<std::uint64_t>(tasks, 1, most), number, next_, step_};
  l.whole = false;
  l.single = tasks <= most;
  if (all.count > 1) suspects_.divide(l.origin, l.origin);
  for (std::uint64_t i = 1; i < all.count; ++i, next_ += step_) {
    auto& piece = loans_[next_] = l;
    piece.origin = next_;
    suspects_.divide(l.origin, piece.origin);
  }
  return all;
}

loan_id loan_book::lend_again(loan_id parcel, rank_id to) {
  auto l = loans_.extract(parcel);
  l.key() = std::exchange(next_, next_ + step_);
  l.mapped().borrower = to;
  l.mapped().again = l.mapped().watched = true;
  l.mapped().waited = false;
  return loans_.insert(std::move(l)).position->first;
}

std::optional<loan_id> loan_book::next_parcel() const {
  for (auto const& [number, l] : loans_)
    if (!l.borrower && !l.whole && !suspects_.blames(l.origin)) return number;
  return std::nullopt;
}

bool loan_book::has_parcel(rank_id rank) const {
  return std::any_of(loans_.begin(), loans_.end(), [&](auto const& entry) {
    return entry.second.watched && entry.second.borrower == rank;
  });
}

std::optional<loan_id> loan_book::next_parcel(rank_id to) const {
  return has_parcel(to) ? std::nullopt : next_parcel();
}

std::vector<loan_id> loan_book::overdue() {
  std::vector<loan_id> all;
  for (auto& [number, l] : loans_)
    if (!l.borrower && !l.whole && !suspects_.blames(l.origin) && std::exchange(l.waited, true))
      all.push_back(number);
  return all;
}

std::vector<loan_id> loan_book::borrowed_by(rank_id rank) const {
  return numbers([&](loan const& l) { return l.borrower == rank; });
}
std::vector<loan_id> loan_book::parcels() const {
  return numbers([](loan const& l) { return !l.borrower; });
}
std::vector<loan_id> loan_book::parts_of(debt_id debt) const {
  return numbers([&](loan const& l) { return l.of == debt; });
}

std::map<rank_id, std::vector<loan_id>> loan_book::by_borrower() const {
  std::map<rank_id, std::vector<loan_id>> all;
  for (auto const& [number, l] : loans_)
    if (l.borrower) all[*l.borrower].push_back(number);
  return all;
}

loan_id lender::lend(debt_id of, steal_debt& d, rank_id to) {
  ++d.loans;
  return book_.lend(to, of);
}

// --- messages of borrowers

void lender::on(rank_id from, steal::paid const& m, borrower& debts, steal_actions& out) {
  if (book_.find(m.loan, from) == nullptr) return;
  debt_id const of = book_.close(m.loan).of;
  out.push_back(steal::settle{m.loan, of});
  debts.loan_paid(of, out);
}

void lender::on(rank_id from, steal::begins const& m, borrower& /*debts*/, steal_actions& /*out*/) {
  if (book_.find(m.loan, from) != nullptr) book_.begun(m.loan, m.lost);
}

void lender::on(rank_id from, steal::worth const& m, borrower& /*debts*/, steal_actions& out) {
  auto const* const l = book_.find(m.loan, from);
  if (l == nullptr) return;
  book_.stated(m.loan);
  out.push_back(steal::restate{m.loan, l->of});
}

void lender::on(rank_id from, steal::returned const& m, borrower& debts, steal_actions& out) {
  auto const* const l = book_.find(m.loan, from);
  if (l == nullptr) return;
  out.push_back(steal::restate{m.loan, l->of});
  take_back(m.loan, debts, out);
}

void lender::on(rank_id from, steal::not_held const& m, borrower& debts, steal_actions& out) {
  for (auto const number : m.loans)
    if (auto const* const l = book_.find(number, from)) {
      ++taken_back_;
      return_or_set_apart(number, std::nullopt, l->again, debts, out);
    }
}

// The loan is replaced by its parts: what the leaver gives back, and what it has lent on.
void lender::on(rank_id from, steal::bequeaths const& m, borrower& debts, steal_actions& out) {
  auto const* const l = book_.find(m.loan, from);
  if (l == nullptr) return out.push_back(steal::send{from, steal::revoke{m.loan}});
  debt_id const of = l->of;
  steal::restate stated{m.loan, of};
  for (auto const& part : m.loans) {
    book_.inherit(part, of);
    ++debts.find(of)->loans;
    stated.inherited.push_back(part.number);
  }
  book_.stated(m.loan);
  out.push_back(std::move(stated));
  out.push_back(steal::send{from, steal::heard{m.loan}});
  for (auto const& part : m.loans)
    if (part.borrower == config_.self)
      absorb(from, part, of, debts, out);
    else
      out.push_back(steal::send{part.borrower, steal::inherits{part.number, from}});
  if (m.work) return return_or_set_apart(m.loan, std::nullopt, m.suspect, debts, out);
  book_.close(m.loan);
  out.push_back(steal::take_back{m.loan, of});
  debts.loan_paid(of, out);
}

// This rank would owe itself a part of one of its debts.
void lender::absorb(rank_id from, steal::legacy const& own, debt_id of, borrower& debts, steal_actions& out) {
  out.push_back(steal::send{from, steal::heard{own.number}});
  auto const id = debts.find(from, own.number);
  if (!id) return return_or_set_apart(own.number, std::nullopt, own.again, debts, out);
  book_.close(own.number);
  book_.absorb(*id, of);
  debts.absorb(*id, of);
  out.push_back(steal::absorb{own.number, *id, of});
}

void lender::take_back(loan_id number, borrower& debts, steal_actions& out) {
  debt_id const of = book_.close(number).of;
  debts.take_back(of);
  out.push_back(steal::take_back{number, of});
}

void lender::return_or_set_apart(loan_id number, std::optional<rank_id> lost, bool apart, borrower& debts,
                                 steal_actions& out) {
  if (!apart || debts.returns()) return take_back(number, debts, out);
  book_.set_apart(number, lost);
  out.push_back(steal::set_apart{number, book_[number].of});
}

void lender::lost(rank_id rank, borrower& debts, steal_actions& out) {
  for (auto const number : book_.borrowed_by(rank)) {
    ++taken_back_;
    return_or_set_apart(number, rank, true, debts, out);
    out.push_back(steal::send{rank, steal::revoke{number}});
  }
  book_.lost(rank);
}

void lender::ask_held(steal_actions& out) const {
  for (auto& [borrower, numbers] : book_.by_borrower())
    out.push_back(steal::send{borrower, steal::held{std::move(numbers)}});
}

std::optional<blamed> lender::tick() {
  auto const guilty = book_.tick();
  if (!guilty) return std::nullopt;
  return blamed{guilty->work, guilty->ranks, guilty->more,
                "loan " + std::to_string(guilty->work) + " of rank " + std::to_string(config_.self)};
}

void lender::drop(debt_id of, borrower& debts, steal_actions& out, bool inherited) {
  for (auto const number : book_.parts_of(of)) {
    auto const borrower = book_.close(number).borrower;
    if (borrower && !inherited) out.push_back(steal::send{*borrower, steal::revoke{number}});
    out.push_back(steal::forget{number});
  }
  debts.drop(of, out);
}

void lender::leave(bool returns, borrower& debts, steal_actions& out) {
  if (!returns) return book_.clear();
  for (auto const parcel : book_.parcels()) take_back(parcel, debts, out);
}

// --- parcels

loan_book::pieces lender::cut(loan_id loan, std::uint64_t tasks, borrower& debts) {
  auto const all = book_.cut(loan, tasks, config_.most_parcels);
  if (all.count > 0) debts.find(book_[loan].of)->loans += all.count - 1;
  return all;
}

bool lender::may_borrow_parcels(rank_id r, thief const& search) const {
  return r != config_.self && r != config_.root && !search.lost_ranks().contains(r);
}

template <class Suits>
std::optional<rank_id> lender::first_rank(Suits const& suits) const {
  for (rank_id r = 0; r < config_.ranks; ++r)
    if (suits(r)) return r;
  return std::nullopt;
}

void lender::lend_again(loan_id parcel, rank_id to, thief& search, bound_key bound, steal_actions& out) {
  loan_id const number = book_.lend_again(parcel, to);
  out.push_back(steal::lend_again{parcel, to, {number, true, true, bound}});
  search.knows(to);
}

bool lender::lend_parcel(rank_id to, thief& search, bound_key bound, steal_actions& out) {
  auto const parcel = may_borrow_parcels(to, search) ? book_.next_parcel(to) : std::nullopt;
  if (parcel) lend_again(*parcel, to, search, bound, out);
  return parcel.has_value();
}

void lender::place_parcels(waiting_thieves& thieves, thief& search, bound_key bound, borrower& debts,
                           steal_actions& out) {
  bool const no_other = !first_rank([&](rank_id r) { return may_borrow_parcels(r, search); });
  book_.only_the_root_is_left(no_other && config_.self == config_.root);
  if (!book_.next_parcel()) return;
  if (!no_other) return thieves.remove_if([&](rank_id r) { return lend_parcel(r, search, bound, out); });
  take_parcels(debts, out);
}

void lender::take_parcels(borrower& debts, steal_actions& out) {
  while (auto const parcel = book_.next_parcel()) {
    auto const l = book_[*parcel];
    take_back(*parcel, debts, out);
    debts.run_parcel(l.of, l.lost, out);
  }
}

void lender::push_parcels(thief& search, bound_key bound, steal_actions& out) {
  for (auto const parcel : book_.overdue()) {
    auto const to =
        first_rank([&](rank_id r) { return may_borrow_parcels(r, search) && !book_.has_parcel(r); });
    if (!to) return;
    lend_again(parcel, *to, search, bound, out);
  }
}

}  // namespace skel::role
