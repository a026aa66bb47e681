// The debts of one rank of a ring_steal call: which tasks it works on, and what it owes for them.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ring_steal/role/message.hpp"

namespace skel::role {

/// A loan as its borrower sees it: it owes the lender one result for all tasks.
struct steal_debt {
  rank_id lender = 0;
  loan_id number = 0;
  bool work = true;         ///< tasks of it wait or run on this rank
  std::uint64_t loans = 0;  ///< outstanding loans made from it, including parcels
  bool suspect = false;
  bool alone = false;           ///< no loan is made from it before its first statement
  bool silent = false;          ///< its lender leaves: nothing is said before another has taken it over
  std::vector<rank_id> lost{};  ///< ranks lost with loans made from it
};

/// A rank works on one debt at a time, the current one. A debt is paid when it has neither tasks nor
/// outstanding loans. When the run ends early, debts are returned instead. Appends actions to `out`.
class borrower {
 public:
  borrower() = default;
  /// `records`: the root records the value of its debt before it is complete.
  borrower(rank_id self, bool records) : self_(self), records_(records) {}

  debt_id open(steal_debt d);
  /// Works on a debt that has tasks. Returns whether there is one.
  bool turn_to_work(steal_actions& out);
  /// No task of the current debt waits or runs on this rank any more.
  void dry(steal_actions& out);
  /// The tasks of a loan made from this debt are back.
  void take_back(debt_id id);
  /// This rank itself must run a parcel of the debt, with which these ranks were lost.
  void run_parcel(debt_id id, std::vector<rank_id> const& lost, steal_actions& out);
  /// A loan made from this debt is paid.
  void loan_paid(debt_id id, steal_actions& out);
  /// Sends the current value of this debt to its lender.
  void state(debt_id id, steal_actions& out);
  void on(rank_id from, steal::held const& m, steal_actions& out) const;
  void on(rank_id from, steal::moves const& m, steal_actions& out);
  void on(rank_id from, steal::inherits const& m, steal_actions& out);
  /// The debt becomes a part of `into`: this rank has inherited the loan.
  void absorb(debt_id id, debt_id into);
  /// No thread of this rank runs a task, or is to begin one.
  void pause() { current_.reset(); }
  /// The debt is void; its loans have been revoked.
  void drop(debt_id id, steal_actions& out);
  /// The call ends; its debts are void, or returned by return_debts().
  void leave(bool returns);
  /// Returns the debts without outstanding loans: a debt is younger than the one it was lent from, so there
  /// are no cycles. Returns whether none is left.
  bool return_debts(steal_actions& out);

  [[nodiscard]] std::optional<debt_id> find(rank_id lender, loan_id number) const;
  [[nodiscard]] std::vector<debt_id> owed_to(rank_id lender) const;
  [[nodiscard]] std::map<debt_id, steal_debt> const& all() const { return debts_; }
  /// Null if it is void.
  [[nodiscard]] steal_debt* find(debt_id id);
  [[nodiscard]] steal_debt const* find(debt_id id) const;
  [[nodiscard]] std::optional<debt_id> current() const { return current_; }
  /// Whether a task of this debt may end the process. The lender then gets more frequent statements.
  [[nodiscard]] bool suspect(debt_id id) const;
  /// Whether any debt may be suspect, without a look at each.
  [[nodiscard]] bool has_met_suspects() const { return met_suspects_; }
  [[nodiscard]] bool returns() const { return returns_; }
  [[nodiscard]] std::size_t size() const { return debts_.size(); }
  auto fields() const { return std::tie(debts_, next_, current_, returns_); }

 private:
  void work_on(debt_id id, steal_actions& out);
  void settle_if_done(debt_id id, steal_actions& out);
  void end(debt_id id, steal_debt const& d, bool returned, steal_actions& out) const;

  rank_id self_ = 0;
  bool records_ = false;
  std::map<debt_id, steal_debt> debts_;
  debt_id next_ = 0;
  std::optional<debt_id> current_;
  bool met_suspects_ = false;  // a debt of this run was suspect
  bool returns_ = false;       // every debt returns to its lender
};

}  // namespace skel::role
