// The lender's side of loans, and which of them are to blame for lost ranks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ring_steal/role/action.hpp"
#include "role/suspects.hpp"

namespace skel::role {

/// A loan whose borrower is lost becomes a *parcel*. Its tasks may have ended the borrower, so they stay
/// apart from the lender's own until another rank borrows them, all of them and under a new number. A parcel
/// goes to one rank at a time. Its borrower says when it begins, and states what is left of it now and then;
/// a statement is progress and clears the parcel. So it is blamed only for ranks that were lost with the same
/// tasks. A regular value.
class loan_book {
 public:
  struct loan {
    std::optional<rank_id> borrower{};  ///< none: a parcel that waits
    debt_id of = 0;
    loan_id origin = 0;           ///< under which number its tasks were lent first
    bool again = false;           ///< it was a parcel
    bool watched = false;         ///< a parcel that is lent, and nothing was stated since
    bool waited = false;          ///< a parcel that no rank has asked for since the last tick
    std::vector<rank_id> lost{};  ///< its borrowers since there was progress
    friend bool operator==(loan const&, loan const&) = default;
  };

  /// `most_losses`: of ranks with the same parcel, before it is blamed; 0: none is.
  explicit loan_book(unsigned most_losses = 2) : suspects_(most_losses) {}

  loan_id lend(rank_id to, debt_id of);
  /// The loan, while this rank has it; null where it was taken back, or is void.
  [[nodiscard]] loan const* find(loan_id number, rank_id borrower) const;
  [[nodiscard]] loan const& operator[](loan_id number) const { return loans_.at(number); }
  /// It is paid, taken back or void. Returns what it was.
  loan close(loan_id number);
  void clear();

  /// The borrower has begun with a parcel. `lost`: it was its lender before, and these ranks were lost with a
  /// part of it.
  void begun(loan_id number, std::vector<rank_id> const& lost);
  /// The borrower has stated what is left of it.
  void stated(loan_id number);
  /// Its tasks are here again, as a parcel; `lost`: because its borrower is.
  void set_apart(loan_id number, std::optional<rank_id> lost);
  /// Lends a parcel to this rank, under the number that is returned.
  loan_id lend_again(loan_id parcel, rank_id to);
  /// A parcel that may be lent now; `to`: to this rank, which then has one of them at most.
  [[nodiscard]] std::optional<loan_id> next_parcel() const;
  [[nodiscard]] std::optional<loan_id> next_parcel(rank_id to) const;
  /// Whether this rank has a parcel that it has not stated: it gets no other one.
  [[nodiscard]] bool has_parcel(rank_id rank) const;

  void heard(rank_id rank) { suspects_.heard(rank); }
  /// Its loans are parcels by now.
  void lost(rank_id rank) { suspects_.take_back(rank); }
  /// Parcels that no rank has asked for since the last tick.
  [[nodiscard]] std::vector<loan_id> overdue();
  /// A parcel to blame, by its origin, and the ranks that were lost with it.
  [[nodiscard]] auto tick() { return suspects_.tick(); }

  [[nodiscard]] std::vector<loan_id> borrowed_by(rank_id rank) const;
  [[nodiscard]] std::vector<loan_id> parcels() const;
  [[nodiscard]] std::vector<loan_id> parts_of(debt_id debt) const;
  /// The loans of each borrower.
  [[nodiscard]] std::map<rank_id, std::vector<loan_id>> by_borrower() const;
  [[nodiscard]] std::size_t size() const { return loans_.size(); }
  friend bool operator==(loan_book const&, loan_book const&) = default;
  void hash(digest& d) const;

 private:
  template <class Wanted>
  [[nodiscard]] std::vector<loan_id> numbers(Wanted const& wanted) const {
    std::vector<loan_id> all;
    for (auto const& [number, l] : loans_)
      if (wanted(l)) all.push_back(number);
    return all;
  }

  std::map<loan_id, loan> loans_;
  suspects<loan_id> suspects_;  // by origin
  loan_id next_ = 1;
};

}  // namespace skel::role
