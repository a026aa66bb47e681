// One rank of a ring_steal call: thief, victim, borrower and lender.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ring_steal/role/action.hpp"
#include "ring_steal/role/loan_book.hpp"
#include "ring_steal/role/thief.hpp"
#include "role/attendance.hpp"

namespace skel::role {

struct stealer_config {
  rank_id self = 0;
  rank_id root = 0;
  std::vector<rank_id> ranks;  ///< all, in the order of the ring
  ring_order order = ring_order::doubling;
  std::uint64_t call_hash = 0;
  bool records = false;      ///< the root records what debt 0 is worth
  unsigned most_losses = 2;  ///< of ranks with the same tasks, before these are blamed; 0: they never are
  friend bool operator==(stealer_config const&, stealer_config const&) = default;
};

/// Tasks that make tasks, over loans. What a victim gives is a loan; the thief owes one merged result for it,
/// including all that its tasks spawned and what it lent on. The lender keeps the tasks until it is paid.
/// When the root's debt 0 is paid, everything is done: termination, exactly-once counting and takeover are
/// one book.
///
/// - A borrower is lost: its loan becomes a parcel of the lender (loan_book), and no result for that loan
///   counts any more.
/// - A lender is lost: the debt is void. The borrower drops it, and revokes what it lent of it; the lender's
///   own lender has the work done again.
/// - On every tick a lender asks whether its loans are still held, and takes back what is not. So a wrong
///   suspicion costs work and never a count.
///
/// A borrower can state what its debt is worth by now: a result, and the tasks that are left. Running those
/// and merging gives what the loan asks for, so the lender keeps the statement in place of what it has lent.
/// Its own statement is made of its tasks and of the latest statements about its loans. That of the root
/// about debt 0 is a checkpoint of the whole run, however old the others were. When the run ends early, debts
/// are returned the same way, first those of which nothing is lent on: so the root has the result of all that
/// ran, with checkpoints or without.
///
/// Parcels, and what is lent of them, are *suspect*: one of their tasks may end the process that runs it. The
/// root never borrows suspect tasks. A lender runs its parcel itself only when no rank but itself and the
/// root is left, and tells its own lender so.
///
/// A victim that works keeps a thief waiting until it has something to give.
///
/// The role sees loans, never tasks. A regular value; events append their actions to `out`. It relies on the
/// wire contract: between two living ranks messages arrive once and in order, however late.
class stealer {
 public:
  stealer() = default;
  explicit stealer(stealer_config config);

  void begin(steal_actions& out);
  /// Nothing of this debt waits or runs on this rank any more.
  void dry(debt_id id, steal_actions& out);
  /// Whether a thief waits for tasks.
  [[nodiscard]] bool wanted() const { return !thieves_.empty(); }
  [[nodiscard]] std::size_t thieves() const { return thieves_.size(); }
  /// Whether a thief waits that may have tasks of this debt.
  [[nodiscard]] bool may_spare(debt_id id) const;
  /// There are tasks of this debt to give: the thief that has waited longest gets them.
  void spare(debt_id id, steal_actions& out);
  /// This rank works, but has had nothing to give for some time: sends the thieves away.
  void nothing_to_spare(steal_actions& out);
  /// This rank has nothing to do and no rank to ask, and some time has passed.
  void retry(steal_actions& out);
  /// The engine can say what this debt is worth, and some of it was done since it did last.
  void state(debt_id id, steal_actions& out);
  /// A task threw, the `number`-th that this rank ran.
  void failed(std::uint64_t number, std::string text, steal_actions& out);
  void please_stop(steal_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread runs a task any more. Said again, it goes on with what is to be returned.
  void quiet(steal_actions& out);
  void on(rank_id from, steal_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  void tick(steal_actions& out);

  [[nodiscard]] std::optional<debt_id> current() const { return current_; }
  /// A task of this debt may end the process: its lender hears more often what is left.
  [[nodiscard]] bool suspect(debt_id id) const;
  /// Whether any debt may be suspect, without a look at each.
  [[nodiscard]] bool has_met_suspects() const { return met_suspects_; }
  [[nodiscard]] bool hungry() const { return !current_ && attendance_.active(); }
  /// Hungry, and without an answer to wait for.
  [[nodiscard]] bool resting() const { return hungry() && !thief_.asked(); }
  [[nodiscard]] std::optional<rank_id> asked() const { return thief_.asked(); }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  [[nodiscard]] bool draining() const { return attendance_.draining(); }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  [[nodiscard]] std::size_t debts() const { return debts_.size(); }
  [[nodiscard]] std::size_t loans() const { return lent_.size(); }
  [[nodiscard]] std::uint64_t steals() const { return steals_; }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(stealer const&, stealer const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct debt {
    rank_id lender = 0;
    loan_id number = 0;       // the lender's
    bool work = true;         // tasks of it wait or run here
    std::uint64_t loans = 0;  // lent on, not paid back; with parcels
    bool suspect = false;
    bool alone = false;           // nothing of it is lent on before it was stated
    std::vector<rank_id> lost{};  // and these ranks were lost with parts of it that were lent on
    friend bool operator==(debt const&, debt const&) = default;
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

  stealer_config config_;
  thief thief_;
  std::map<debt_id, debt> debts_;
  loan_book lent_;
  debt_id next_debt_ = 0;
  bool met_suspects_ = false;  // a debt of this run was suspect
  std::optional<debt_id> current_;
  std::deque<rank_id> thieves_;  // they wait for an answer
  std::set<rank_id> gone_;       // ranks that are lost
  std::uint64_t steals_ = 0;     // loans received
  std::uint64_t taken_back_ = 0;
  attendance attendance_;
  bool returns_ = false;  // draining, and every debt goes back to its lender
};

}  // namespace skel::role
