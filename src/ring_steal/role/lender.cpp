#include "ring_steal/role/lender.hpp"

#include <string>
#include <utility>

namespace skel::role {

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
    if (auto const* const l = book_.find(number, from))
      return_or_set_apart(number, std::nullopt, l->again, debts, out);
}

void lender::take_back(loan_id number, borrower& debts, steal_actions& out) {
  debt_id const of = book_.close(number).of;
  debts.take_back(of);
  out.push_back(steal::take_back{number, of});
}

void lender::return_or_set_apart(loan_id number, std::optional<rank_id> lost, bool apart, borrower& debts,
                                 steal_actions& out) {
  ++taken_back_;
  if (!apart || debts.returns()) return take_back(number, debts, out);
  book_.set_apart(number, lost);
  out.push_back(steal::set_apart{number, book_[number].of});
}

void lender::lost(rank_id rank, borrower& debts, steal_actions& out) {
  for (auto const number : book_.borrowed_by(rank)) {
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

void lender::drop(debt_id of, borrower& debts, steal_actions& out) {
  for (auto const number : book_.parts_of(of)) {
    auto const borrower = book_.close(number).borrower;
    if (borrower) out.push_back(steal::send{*borrower, steal::revoke{number}});
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
