// One rank of a ring_steal call: thief, victim, borrower and lender.
#pragma once

#include <string>
#include <tuple>

#include "protocol/attendance.hpp"
#include "ring_steal/role/borrower.hpp"
#include "ring_steal/role/bounds.hpp"
#include "ring_steal/role/departure.hpp"
#include "ring_steal/role/lender.hpp"
#include "ring_steal/role/message.hpp"
#include "ring_steal/role/thief.hpp"

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
/// A borrower can state the current value of its debt: a result and the remaining tasks. Running these and
/// merging gives the result of the loan, so the lender keeps the statement in place of the tasks. A statement
/// covers the rank's own tasks and the latest statements about its loans. The root's statement about debt 0
/// is therefore a checkpoint of the whole run, whatever the age of the others. When the run ends early, debts
/// are returned the same way, first those without outstanding loans. The root then has the result of all
/// tasks that ran, with or without checkpoints.
///
/// A rank that leaves before the end hands its debts back to their lenders, and what it has lent on with them
/// (departure). No task runs twice for that.
///
/// Parcels, and loans made from them, are *suspect*: one of their tasks may end the process that
/// runs it. The root never borrows suspect tasks. A lender runs its parcel itself only if no rank
/// except itself and the root is left, and reports that to its own lender.
///
/// The role sees loans, never tasks. Events append their actions to `out`. Relies on the wire contract:
/// between two living ranks, messages arrive once and in order, after any delay.
class steal_member {
 public:
  steal_member() = default;
  explicit steal_member(steal_member_config const& config);

  void begin(steal_actions& out);
  /// No task of this debt waits or runs on this rank any more.
  void dry(debt_id id, steal_actions& out);
  /// Tasks of this debt are available: the thief that has waited longest gets them.
  void spare(debt_id id, steal_actions& out);
  /// This rank is busy and found nothing to give for some time: refuses the waiting thieves.
  void nothing_to_spare(steal_actions& out) { thieves_.refuse_all(thief_.knows_busy(), out); }
  /// This rank is idle and has no rank to ask, and some time has passed.
  void retry(steal_actions& out);
  /// The engine can state the value of this debt, and work was done since the previous statement.
  void state(debt_id id, steal_actions& out) { debts_.state(id, out); }
  /// The tasks of this rank know this bound. Returns the best one that this rank knows.
  bound_key share(bound_key bound) {
    bounds_.improve(bound);
    return bounds_.best();
  }
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
  /// This rank is to leave, or to stay after all. It asks for no tasks. Once it is `idle`, i.e. no thread
  /// runs a task, it hands back what it has. Repeated.
  void retire(bool does, bool idle, steal_actions& out);
  /// Whether the others need nothing more of it.
  [[nodiscard]] bool vacant() const {
    return attendance_.active() && departure_.done() && debts_.size() == 0 && !thief_.asked();
  }
  [[nodiscard]] bool leaves() const { return departure_.leaves(); }
  void on(rank_id from, steal_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  /// Performing set_apart, the engine found `tasks` remaining tasks in this loan. Returns the parcels
  /// to cut them into: the loan itself, with the oldest tasks, and the others; none if it is void.
  loan_book::pieces cut(loan_id loan, std::uint64_t tasks, steal_actions& out);
  void from_outside(rank_id rank) { loans_.from_outside(rank); }
  void tick(steal_actions& out);

  /// Whether this rank has no work and awaits no answer.
  [[nodiscard]] bool resting() const { return hungry() && !thief_.asked(); }
  [[nodiscard]] thief const& search() const { return thief_; }
  [[nodiscard]] waiting_thieves const& thieves() const { return thieves_; }
  [[nodiscard]] borrower const& debts() const { return debts_; }
  [[nodiscard]] lender const& loans() const { return loans_; }
  auto fields() const { return std::tie(thief_, thieves_, debts_, loans_, bounds_, attendance_, departure_); }

 private:
  void on(rank_id from, call_message const& m, steal_actions& out);
  void on(rank_id from, steal::ask const& m, steal_actions& out);
  void on(rank_id from, steal::loan const& m, steal_actions& out);

  [[nodiscard]] bool hungry() const {
    return begun_ && !debts_.current() && attendance_.active() && !departure_.leaves();
  }
  void turn_to_work(steal_actions& out);
  void place_parcels(steal_actions& out);
  void leave_work(bool returns, steal_actions& out);

  attendance attendance_;
  thief thief_;
  waiting_thieves thieves_;
  borrower debts_;
  lender loans_;
  bounds bounds_;
  departure departure_;
  steal_member_config config_;
  bool begun_ = false;
};

}  // namespace skel::role
