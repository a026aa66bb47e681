// One rank of a ring_steal call: thief, victim, borrower and lender.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ring_steal/role/action.hpp"
#include "role/attendance.hpp"
#include "role/ring_search.hpp"

namespace skel::role {

struct stealer_config {
  rank_id self = 0;
  rank_id root = 0;
  std::vector<rank_id> ranks;  ///< everybody, in the order of the ring
  ring_order order = ring_order::doubling;
  std::uint64_t call_hash = 0;
  bool records = false;  ///< the root records what debt 0 is worth
  friend bool operator==(stealer_config const&, stealer_config const&) = default;
};

/// Tasks that make tasks, over loans. What a victim gives is a loan; the thief owes one merged result for it,
/// including all that its tasks spawned and what it lent on. The lender keeps the tasks until it is paid.
/// When the root's debt 0 is paid, everything is done: termination, exactly-once counting and takeover are
/// one book.
///
/// - A borrower that is lost: the lender takes the tasks back, and no result for that loan counts any more.
/// - A lender that is lost: the debt is void. The borrower drops it, and revokes what it lent of it; the
///   lender's own lender does the work again.
/// - On every tick a lender asks whether its loans are still held, and takes back what is not: so a suspicion
///   that was wrong costs work, and never a count.
///
/// For checkpoints a borrower states what its debt is worth by now: a result, and the tasks that are left.
/// Whoever runs those and merges gets what the loan asks for, so its lender keeps the statement in place of
/// what it has lent, and of the statements it has of all its loans and its own tasks makes its own. That of
/// the root about debt 0 is a checkpoint of the whole run, however old the others were. When the run ends
/// early, debts are returned the same way, those first of which nothing is lent on: so the root has the
/// result of all that ran, with checkpoints or without.
///
/// A thief walks the ring as ring_search says, with one request under way at most. When it has come round, or
/// asked `arc` ranks in vain, it waits for retry(): with thousands of idle ranks whole rounds would be a
/// storm. A victim that works keeps a thief waiting until it has something to give.
///
/// The role sees loans, never tasks. A regular value; events append their actions to `out`. It relies on the
/// wire contract: between two living ranks messages arrive once and in order, however late.
class stealer {
 public:
  static constexpr unsigned arc = 16;

  stealer() = default;
  explicit stealer(stealer_config config);

  void begin(steal_actions& out);
  /// Nothing of this debt waits or runs on this rank any more.
  void dry(debt_id id, steal_actions& out);
  /// Whether a thief waits for tasks.
  [[nodiscard]] bool wanted() const { return !thieves_.empty(); }
  [[nodiscard]] std::size_t thieves() const { return thieves_.size(); }
  /// There are tasks of this debt to give: whoever waits longest gets them.
  void spare(debt_id id, steal_actions& out);
  /// It works, but has had nothing to give for some time: those that wait had better ask elsewhere.
  void nothing_to_spare(steal_actions& out);
  /// This rank has nothing to do and nobody to ask, and some time has passed.
  void retry(steal_actions& out);
  /// The engine can say what this debt is worth.
  void state(debt_id id, steal_actions& out) const;
  /// A task threw, the `number`-th that this rank ran.
  void failed(std::uint64_t number, std::string text, steal_actions& out);
  void please_stop(steal_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread runs a task any more. Said again, it goes on with what is to be returned.
  void quiet(steal_actions& out);
  void on(rank_id from, steal_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  void tick(steal_actions& out);

  [[nodiscard]] std::optional<debt_id> current() const { return current_; }
  [[nodiscard]] bool hungry() const { return !current_ && attendance_.active(); }
  /// Hungry, and without an answer to wait for.
  [[nodiscard]] bool resting() const { return hungry() && !asked_; }
  [[nodiscard]] std::optional<rank_id> asked() const { return asked_; }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  [[nodiscard]] bool draining() const { return attendance_.draining(); }
  [[nodiscard]] bool ended() const { return attendance_.ended(); }
  [[nodiscard]] std::size_t debts() const { return debts_.size(); }
  [[nodiscard]] std::size_t loans() const { return loans_.size(); }
  [[nodiscard]] std::uint64_t steals() const { return steals_; }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }
  friend bool operator==(stealer const&, stealer const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct debt {
    rank_id lender = 0;
    loan_id number = 0;       // the lender's
    bool work = true;         // tasks of it wait or run here
    std::uint64_t loans = 0;  // lent on, not paid back
    friend bool operator==(debt const&, debt const&) = default;
  };
  struct loan {
    rank_id borrower = 0;
    debt_id of = 0;
    friend bool operator==(loan const&, loan const&) = default;
  };

  // One for each message.
  void on(rank_id from, call_message const& m, steal_actions& out);
  void on(rank_id from, steal::ask const& m, steal_actions& out);
  void on(rank_id from, steal::nothing const& m, steal_actions& out);
  void on(rank_id from, steal::loan const& m, steal_actions& out);
  void on(rank_id from, steal::paid const& m, steal_actions& out);
  void on(rank_id from, steal::worth const& m, steal_actions& out);
  void on(rank_id from, steal::returned const& m, steal_actions& out);
  void on(rank_id from, steal::held const& m, steal_actions& out);
  void on(rank_id from, steal::not_held const& m, steal_actions& out);
  void on(rank_id from, steal::revoke const& m, steal_actions& out);
  void on(rank_id from, steal::progress const& m, steal_actions& out);

  void turn_to_work(steal_actions& out);
  void ask_next(steal_actions& out);
  void send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const;
  void settle_if_done(debt_id id, steal_actions& out);
  void take_back(loan_id number, steal_actions& out);
  void drop(debt_id id, steal_actions& out);
  void leave_work(bool returns);
  void return_debts(steal_actions& out);
  [[nodiscard]] bool has_lent(loan_id number, rank_id borrower) const;
  [[nodiscard]] std::optional<debt_id> find(rank_id lender, loan_id number) const;

  stealer_config config_;
  ring_search search_;
  unsigned asks_ = 0;  // without success, since it last rested
  bool came_round_ = true;
  std::map<debt_id, debt> debts_;
  std::map<loan_id, loan> loans_;
  debt_id next_debt_ = 0;
  loan_id next_loan_ = 1;
  std::optional<debt_id> current_;
  std::optional<rank_id> asked_;  // an answer is due from
  std::deque<rank_id> thieves_;   // they wait for an answer
  std::uint64_t steals_ = 0;      // loans received
  std::uint64_t taken_back_ = 0;
  attendance attendance_;
  bool returns_ = false;  // draining, and every debt goes back to its lender
};

}  // namespace skel::role
