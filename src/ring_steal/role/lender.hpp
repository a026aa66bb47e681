// The loans of one rank of a ring_steal call, and the parcels that lost ranks leave.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "protocol/suspects.hpp"
#include "ring_steal/role/borrower.hpp"
#include "ring_steal/role/message.hpp"
#include "ring_steal/role/thief.hpp"

namespace skel::role {

/// A loan whose borrower is lost is cut into *parcels*, of one task each if they are not too many. One
/// of them may have ended the borrower, so they are kept apart from the lender's own until other ranks
/// borrow them under new numbers. A parcel goes to one rank at a time. Its borrower reports when it
/// begins, and states the remaining tasks periodically. A statement is progress and clears the parcel.
/// A parcel of one task is blamed for ranks that were lost after they had begun it. Other losses are
/// uncertain (suspects), since most tasks of a loan only wait.
class loan_book {
 public:
  struct loan {
    std::optional<rank_id> borrower{};  ///< none: a waiting parcel
    debt_id of = 0;
    loan_id origin = 0;           ///< the number of the first loan of these tasks
    bool again = false;           ///< it was a parcel before
    bool watched = false;         ///< a lent parcel without a statement so far
    bool waited = false;          ///< a parcel that no rank has requested since the last tick
    bool whole = false;           ///< a parcel that is not cut yet
    bool single = false;          ///< a parcel of one task
    std::vector<rank_id> lost{};  ///< borrowers lost since the last progress
  };

  /// `most_losses`: number of ranks lost with the same parcel before it is blamed; 0: never.
  explicit loan_book(unsigned most_losses = 2, rank_id self = 0, rank_id ranks = 1)
      : suspects_(most_losses),
        step_(static_cast<loan_id>(ranks)),
        next_(step_ + static_cast<loan_id>(self)) {}

  loan_id lend(rank_id to, debt_id of);
  /// A loan of another rank is this one's now. The new lender knows no suspicion, and no progress.
  void inherit(steal::legacy const& l, debt_id of) {
    loans_[l.number] = {.borrower = l.borrower, .of = of, .origin = l.number, .again = l.again};
  }
  /// The loans made from debt `own` are parts of `of`.
  void absorb(debt_id own, debt_id of);
  /// The loan or parcel; null if it was taken back or is void.
  [[nodiscard]] loan const* find(loan_id number) const;
  /// The loan, while it is open; null if it was taken back or is void.
  [[nodiscard]] loan const* find(loan_id number, rank_id borrower) const;
  [[nodiscard]] loan const& operator[](loan_id number) const { return loans_.at(number); }
  /// Closes a loan that is paid, taken back or void, and returns it.
  loan close(loan_id number);
  void clear();

  /// The borrower has begun with a parcel. `lost`: ranks that were lost with a part of it that the
  /// borrower had lent on.
  void begun(loan_id number, std::vector<rank_id> const& lost);
  /// The borrower has stated the value of the loan.
  void stated(loan_id number);
  /// The tasks become a parcel of this rank. `lost`: the borrower, if it was lost.
  void set_apart(loan_id number, std::optional<rank_id> lost);
  /// Parcels that a loan is cut into: the loan itself, and others.
  struct pieces {
    std::uint64_t count = 0;  ///< with the loan itself
    loan_id itself = 0, others = 0, step = 1;
    [[nodiscard]] loan_id operator[](std::uint64_t i) const {
      return i == 0 ? itself : others + (i - 1) * step;
    }
  };
  /// Cuts a loan of `tasks` tasks that was set apart into at most `most` parcels of equal size.
  pieces cut(loan_id number, std::uint64_t tasks, std::uint64_t most);
  /// Lends a parcel to rank `to`. Returns the number of the new loan.
  loan_id lend_again(loan_id parcel, rank_id to);
  /// A parcel that may be lent now. `to`: to this rank, which may then hold only one parcel.
  [[nodiscard]] std::optional<loan_id> next_parcel() const;
  [[nodiscard]] std::optional<loan_id> next_parcel(rank_id to) const;
  /// Whether this rank holds a parcel that it has not stated. It then gets no other.
  [[nodiscard]] bool has_parcel(rank_id rank) const;

  void heard(rank_id rank) { suspects_.heard(rank); }
  void from_outside(rank_id rank) { suspects_.from_outside(rank); }
  void only_the_root_is_left(bool left) { suspects_.only_the_root_is_left(left); }
  /// The loans of this rank have already become parcels.
  void lost(rank_id rank) { suspects_.take_back(rank); }
  /// Parcels that no rank has requested since the last tick.
  [[nodiscard]] std::vector<loan_id> overdue();
  /// A parcel to blame, by its origin, and the ranks lost with it.
  [[nodiscard]] auto tick() { return suspects_.tick(); }

  [[nodiscard]] std::vector<loan_id> borrowed_by(rank_id rank) const;
  [[nodiscard]] std::vector<loan_id> parcels() const;
  [[nodiscard]] std::vector<loan_id> parts_of(debt_id debt) const;
  /// The loans of each borrower.
  [[nodiscard]] std::map<rank_id, std::vector<loan_id>> by_borrower() const;
  [[nodiscard]] std::size_t size() const { return loans_.size(); }
  auto fields() const { return std::tie(loans_, suspects_, next_); }

 private:
  template <class Wanted>
  [[nodiscard]] std::vector<loan_id> numbers(Wanted const& wanted) const {
    std::vector<loan_id> all;
    for (auto const& [number, l] : loans_)
      if (wanted(l)) all.push_back(number);
    return all;
  }

  std::map<loan_id, loan> loans_;
  suspects<loan_id> suspects_;  // keyed by origin
  loan_id step_;                // other ranks have the numbers between
  loan_id next_;
};

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
/// Appends actions to `out`.
class lender {
 public:
  lender() = default;
  explicit lender(lender_config const& config)
      : config_(config), book_(config.most_losses, config.self, config.ranks) {}

  /// Lends tasks of this debt.
  loan_id lend(debt_id of, steal_debt& d, rank_id to);
  /// Lends a parcel to a rank that asks. Returns whether there was one for it.
  bool lend_parcel(rank_id to, thief& search, bound_key bound, steal_actions& out);
  void place_parcels(waiting_thieves& thieves, thief& search, bound_key bound, borrower& debts,
                     steal_actions& out);
  /// This rank must have them itself.
  void take_parcels(borrower& debts, steal_actions& out);
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
  void on(rank_id from, steal::bequeaths const& m, borrower& debts, steal_actions& out);
  void lost(rank_id rank, borrower& debts, steal_actions& out);
  void heard(rank_id rank) { book_.heard(rank); }
  void from_outside(rank_id rank) { book_.from_outside(rank); }
  /// Asks the borrowers whether they still hold their loans.
  void ask_held(steal_actions& out) const;
  /// A parcel to blame.
  [[nodiscard]] std::optional<blamed> tick();
  /// The debt is void: neither its result nor the results of its loans are awaited. Or another rank has
  /// `inherited` them.
  void drop(debt_id of, borrower& debts, steal_actions& out, bool inherited = false);
  /// The call ends. `returns`: parcels are tasks of their debts again; otherwise all loans are void.
  void leave(bool returns, borrower& debts, steal_actions& out);

  [[nodiscard]] loan_book const& book() const { return book_; }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  auto fields() const { return std::tie(book_); }

 private:
  void take_back(loan_id number, borrower& debts, steal_actions& out);
  void return_or_set_apart(loan_id number, std::optional<rank_id> lost, bool apart, borrower& debts,
                           steal_actions& out);
  void absorb(rank_id from, steal::legacy const& own, debt_id of, borrower& debts, steal_actions& out);
  void lend_again(loan_id parcel, rank_id to, thief& search, bound_key bound, steal_actions& out);
  [[nodiscard]] bool may_borrow_parcels(rank_id r, thief const& search) const;
  template <class Suits>
  [[nodiscard]] std::optional<rank_id> first_rank(Suits const& suits) const;

  lender_config config_;
  loan_book book_;
  std::uint64_t taken_back_ = 0;
};

}  // namespace skel::role
