// The loans of one rank of a ring_steal call, and the parcels that lost ranks leave.
#pragma once

#include <optional>
#include <tuple>

#include "ring_steal/role/action.hpp"
#include "ring_steal/role/borrower.hpp"
#include "ring_steal/role/loan_book.hpp"
#include "ring_steal/role/thief.hpp"
#include "ring_steal/role/waiting_thieves.hpp"

namespace skel::role {

struct lender_config {
  rank_id self = 0;
  rank_id root = 0;
  rank_id ranks = 0;
  unsigned most_losses = 2;
  std::uint64_t most_parcels = 256;  ///< of one loan
};

/// Keeps the tasks of a loan until it is paid. The loan of a lost rank becomes parcels (loan_book): waiting
/// thieves get them, then the ranks that ask, and after a tick any rank. This rank runs them itself only if
/// no rank except itself and the root is left. `debts` are those of this rank, from which the loans are made.
/// A regular value; appends actions to `out`.
class lender {
 public:
  lender() = default;
  explicit lender(lender_config const& config) : config_(config), book_(config.most_losses) {}

  /// Lends tasks of this debt.
  loan_id lend(debt_id of, steal_debt& d, rank_id to);
  /// Lends a parcel to a rank that asks. Returns whether there was one for it.
  bool lend_parcel(rank_id to, thief& search, bound_key bound, steal_actions& out);
  void place_parcels(waiting_thieves& thieves, thief& search, bound_key bound, borrower& debts,
                     steal_actions& out);
  /// No rank has asked for these: none is idle, or the idle ranks do not reach this one. A busy rank gets
  /// them and runs them later.
  void push_parcels(thief& search, bound_key bound, steal_actions& out);
  /// See steal_member.
  loan_book::pieces cut(loan_id loan, std::uint64_t tasks, borrower& debts);

  void on(rank_id from, steal::paid const& m, borrower& debts, steal_actions& out);
  void on(rank_id from, steal::begins const& m, borrower& debts, steal_actions& out);
  void on(rank_id from, steal::worth const& m, borrower& debts, steal_actions& out);
  void on(rank_id from, steal::returned const& m, borrower& debts, steal_actions& out);
  void on(rank_id from, steal::not_held const& m, borrower& debts, steal_actions& out);
  void lost(rank_id rank, borrower& debts, steal_actions& out);
  void heard(rank_id rank) { book_.heard(rank); }
  void from_outside(rank_id rank) { book_.from_outside(rank); }
  /// Asks the borrowers whether they still hold their loans.
  void ask_held(steal_actions& out) const;
  /// A parcel to blame.
  [[nodiscard]] std::optional<blamed> tick();
  /// The debt is void: neither its result nor the results of its loans are awaited.
  void drop(debt_id of, borrower& debts, steal_actions& out);
  /// The call ends. `returns`: parcels are tasks of their debts again; otherwise all loans are void.
  void leave(bool returns, borrower& debts, steal_actions& out);

  [[nodiscard]] std::size_t size() const { return book_.size(); }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(lender const&, lender const&) = default;
  auto fields() const { return std::tie(book_); }

 private:
  void take_back(loan_id number, borrower& debts, steal_actions& out);
  void return_or_set_apart(loan_id number, std::optional<rank_id> lost, bool apart, borrower& debts,
                           steal_actions& out);
  void lend_again(loan_id parcel, rank_id to, thief& search, bound_key bound, steal_actions& out);
  [[nodiscard]] bool may_borrow_parcels(rank_id r, thief const& search) const;
  template <class Suits>
  [[nodiscard]] std::optional<rank_id> first_rank(Suits const& suits) const;

  lender_config config_;
  loan_book book_;
  std::uint64_t taken_back_ = 0;
};

}  // namespace skel::role
