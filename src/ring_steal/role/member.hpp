// One rank of a ring_steal call: thief, victim, borrower and lender.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ring_steal/role/action.hpp"
#include "ring_steal/role/bounds.hpp"
#include "ring_steal/role/loan_book.hpp"
#include "ring_steal/role/thief.hpp"
#include "role/attendance.hpp"

namespace skel::role {

struct steal_member_config {
  rank_id self = 0;
  rank_id root = 0;
  rank_id ranks = 0;
  schedule::ring_order order = schedule::ring_order::doubling;
  std::uint64_t call_hash = 0;
  bool records = false;              ///< the root records the value of debt 0
  unsigned most_losses = 2;          ///< ranks lost with the same task before it is blamed; 0: never
  std::uint64_t most_parcels = 256;  ///< of one loan
};

/// Runs tasks that spawn tasks, organised as loans. A victim gives a loan; the thief owes one
/// merged result for it, covering all tasks that the loan spawns and all that the thief lends on.
/// The lender keeps the tasks until it is paid. When the root's debt 0 is paid, the run is
/// complete. One book thus provides termination, exactly-once counting and takeover.
///
/// - A borrower is lost: its loan becomes parcels of the lender (loan_book), and results for that
///   loan are ignored.
/// - A lender is lost: the debt is void. The borrower drops it and revokes the loans it made from
///   it; the lender's own lender has the work done again.
/// - On every tick a lender asks whether its loans are still held, and takes back the others. A
///   wrong suspicion therefore costs work but never corrupts the count.
///
/// A borrower can state the current value of its debt: a result and the remaining tasks. Running
/// these and merging gives the result of the loan, so the lender keeps the statement in place of
/// the tasks. A statement covers the rank's own tasks and the latest statements about its loans.
/// The root's statement about debt 0 is therefore a checkpoint of the whole run, whatever the age
/// of the others. When the run ends early, debts are returned the same way, first those without
/// outstanding loans. The root then has the result of all tasks that ran, with or without
/// checkpoints.
///
/// Parcels, and loans made from them, are *suspect*: one of their tasks may end the process that
/// runs it. The root never borrows suspect tasks. A lender runs its parcel itself only if no rank
/// except itself and the root is left, and reports that to its own lender.
///
/// A busy victim keeps a thief waiting until it has tasks to give.
///
/// The role sees loans, never tasks. A regular value; events append their actions to `out`. Relies
/// on the wire contract: between two living ranks, messages arrive once and in order, after any
/// delay.
class steal_member {
 public:
  steal_member() = default;
  explicit steal_member(steal_member_config const& config);

  void begin(steal_actions& out);
  /// No task of this debt waits or runs on this rank any more.
  void dry(debt_id id, steal_actions& out);
  /// Whether a thief waits for tasks.
  [[nodiscard]] bool wanted() const { return !thieves_.empty(); }
  [[nodiscard]] std::size_t thieves() const { return thieves_.size(); }
  /// Whether a waiting thief may have tasks of this debt.
  [[nodiscard]] bool may_spare(debt_id id) const;
  /// Tasks of this debt are available: the thief that has waited longest gets them.
  void spare(debt_id id, steal_actions& out);
  /// This rank is busy and found nothing to give for some time: refuses the waiting thieves.
  void nothing_to_spare(steal_actions& out);
  /// This rank is idle and has no rank to ask, and some time has passed.
  void retry(steal_actions& out);
  /// The engine can state the value of this debt, and work was done since the previous statement.
  void state(debt_id id, steal_actions& out);
  /// The tasks of this rank know this bound; worse ones than the role's are ignored.
  void improve(bound_key bound) { bounds_.improve(bound); }
  /// Whether a bound waits to be passed on.
  [[nodiscard]] bool has_news() const { return bounds_.has_news() && attendance_.active(); }
  /// Passes the bound on. The engine calls it at most once per interval, so that bounds that improve
  /// all the time cannot flood the network.
  void spread(steal_actions& out);
  /// A task threw, the `number`-th that this rank ran.
  void failed(std::uint64_t number, std::string text, steal_actions& out);
  void please_stop(steal_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread runs a task. Called again, it continues returning debts.
  void quiet(steal_actions& out);
  void on(rank_id from, steal_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  /// Performing set_apart, the engine found `tasks` remaining tasks in this loan. Returns the parcels
  /// to cut them into: the loan itself, with the oldest tasks, and the others; none if it is void.
  loan_book::pieces cut(loan_id loan, std::uint64_t tasks, steal_actions& out);
  void from_outside(rank_id rank) { lent_.from_outside(rank); }
  void tick(steal_actions& out);

  /// The best bound that this rank knows.
  [[nodiscard]] bound_key bound() const { return bounds_.best(); }
  [[nodiscard]] std::optional<debt_id> current() const { return current_; }
  /// Whether a task of this debt may end the process. The lender then gets more frequent
  /// statements.
  [[nodiscard]] bool suspect(debt_id id) const;
  /// Whether any debt may be suspect, without a look at each.
  [[nodiscard]] bool has_met_suspects() const { return met_suspects_; }
  [[nodiscard]] bool hungry() const { return !current_ && attendance_.active(); }
  /// Whether this rank is hungry and awaits no answer.
  [[nodiscard]] bool resting() const { return hungry() && !thief_.asked(); }
  [[nodiscard]] std::optional<rank_id> asked() const { return thief_.asked(); }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  [[nodiscard]] bool draining() const { return attendance_.draining(); }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  [[nodiscard]] std::size_t debts() const { return debts_.size(); }
  [[nodiscard]] std::size_t loans() const { return lent_.size(); }
  [[nodiscard]] std::uint64_t steals() const { return steals_; }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(steal_member const&, steal_member const&) = default;
  /// Without what is only reported.
  auto fields() const {
    return std::tie(thief_, debts_, lent_, bounds_, next_debt_, current_, thieves_, attendance_, returns_);
  }

 private:
  struct debt {
    rank_id lender = 0;
    loan_id number = 0;       // the lender's
    bool work = true;         // tasks of it wait or run on this rank
    std::uint64_t loans = 0;  // outstanding loans made from it, including parcels
    bool suspect = false;
    bool alone = false;           // no loan is made from it before its first statement
    std::vector<rank_id> lost{};  // ranks lost with loans made from it
  };

  // One for each message.
  void on(rank_id from, call_message const& m, steal_actions& out);
  void on(rank_id from, steal::ask const& m, steal_actions& out);
  void on(rank_id from, steal::nothing const& m, steal_actions& out);
  void on(rank_id from, steal::loan const& m, steal_actions& out);
  void on(rank_id from, steal::paid const& m, steal_actions& out);
  void on(rank_id from, steal::begins const& m, steal_actions& out);
  void on(rank_id from, steal::worth const& m, steal_actions& out);
  void on(rank_id from, steal::returned const& m, steal_actions& out);
  void on(rank_id from, steal::held const& m, steal_actions& out);
  void on(rank_id from, steal::not_held const& m, steal_actions& out);
  void on(rank_id from, steal::revoke const& m, steal_actions& out);
  void on(rank_id from, steal::progress const& m, steal_actions& out);
  void on(rank_id from, steal::better const& m, steal_actions& out);

  void turn_to_work(steal_actions& out);
  void work_on(debt_id id, steal_actions& out);
  [[nodiscard]] bool may_have(rank_id thief, debt const& d) const;
  void send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const;
  void settle_if_done(debt_id id, steal_actions& out);
  void drop(debt_id id, steal_actions& out);
  [[nodiscard]] std::optional<debt_id> find(rank_id lender, loan_id number) const;
  void take_back(loan_id number, steal_actions& out);
  void leave_work(bool returns);
  void return_debts(steal_actions& out);
  // Parcels.
  void set_apart(loan_id number, std::optional<rank_id> lost, steal_actions& out);
  void lend_again(loan_id parcel, rank_id to, steal_actions& out);
  void place_parcels(steal_actions& out);
  void run_parcel(loan_id parcel, steal_actions& out);
  void push_parcels(steal_actions& out);
  [[nodiscard]] bool may_borrow_parcels(rank_id r) const;
  template <class Suits>
  [[nodiscard]] std::optional<rank_id> first_rank(Suits const& suits) const;

  steal_member_config config_;
  thief thief_;
  std::map<debt_id, debt> debts_;
  loan_book lent_;
  bounds bounds_;
  debt_id next_debt_ = 0;
  bool met_suspects_ = false;  // a debt of this run was suspect
  std::optional<debt_id> current_;
  std::deque<rank_id> thieves_;  // waiting for an answer
  std::uint64_t steals_ = 0;     // loans received
  std::uint64_t taken_back_ = 0;
  attendance attendance_;
  bool returns_ = false;  // draining, and every debt returns to its lender
};

}  // namespace skel::role
