// One rank of a ring_steal call: thief, victim, borrower and lender.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "role/peer_message.hpp"
#include "role/ring_search.hpp"

namespace skel::role {

/// A debt: a loan from the borrower's side, by the borrower's own number. Number 0 is the root's: the whole
/// run.
using debt_id = std::uint64_t;
/// A loan, by the lender's own number; never used twice.
using loan_id = std::uint64_t;

namespace loan_action {
/// Send `what` to `to` (perhaps this rank itself). For `loan`, the engine takes tasks of debt `debt` that
/// wait on this rank, keeps a copy of them under the loan's number, and attaches them. For `paid` it attaches
/// what it has of debt `debt`, and forgets it. For `worth` and `returned_loan` it attaches what the debt is
/// worth: the result so far, and the tasks that wait or run or are lent on, the latter as their borrowers
/// have stated them last; for `returned_loan` it then forgets the debt.
struct send {
  rank_id to = 0;
  peer_message what;
  debt_id debt = 0;
  friend bool operator==(send const&, send const&) = default;
};
/// What came with the message just handled is what `loan`, a part of `debt`, is worth from now on: a result
/// so far and the tasks that are left, instead of the tasks that were lent.
struct restate {
  loan_id loan = 0;
  debt_id debt = 0;
  friend bool operator==(restate const&, restate const&) = default;
};
/// On the root: what debt 0 is worth now is a checkpoint of the run.
struct record {
  friend bool operator==(record const&, record const&) = default;
};
/// The tasks that came with the message just handled are those of a new debt.
struct accept {
  debt_id debt = 0;
  friend bool operator==(accept const&, accept const&) = default;
};
/// Compute threads work on this debt now; answer with dry().
struct work {
  debt_id debt = 0;
  friend bool operator==(work const&, work const&) = default;
};
/// The result that came with the message just handled is part of `debt`; the tasks of `loan` are not needed
/// any more.
struct settle {
  loan_id loan = 0;
  debt_id debt = 0;
  friend bool operator==(settle const&, settle const&) = default;
};
/// What `loan` is worth is this rank's again, as part of `debt`: its tasks wait, its result is merged.
struct take_back {
  loan_id loan = 0;
  debt_id debt = 0;
  friend bool operator==(take_back const&, take_back const&) = default;
};
/// The tasks of `loan` are not needed any more: what it was part of is void.
struct forget {
  loan_id loan = 0;
  friend bool operator==(forget const&, forget const&) = default;
};
/// This debt is void: its tasks and results so far are to be dropped, and what threads still run of it.
struct drop {
  debt_id debt = 0;
  friend bool operator==(drop const&, drop const&) = default;
};
/// On the root: debt 0 is paid, or the run is stopped early and all other debts are returned. The result of
/// debt 0 is that of the run.
struct complete {
  friend bool operator==(complete const&, complete const&) = default;
};
/// Start nothing more, and say quiet() when no thread runs a task, and again whenever something has come
/// after that. `keeps`: what this rank owes and has lent is still needed; otherwise drop it all. It is kept
/// when the run is stopped early, and dropped when it is done or has failed.
struct drain {
  bool keeps = false;
  friend bool operator==(drain const&, drain const&) = default;
};
}  // namespace loan_action

using steal_action =
    std::variant<loan_action::send, loan_action::accept, loan_action::work, loan_action::settle,
                 loan_action::take_back, loan_action::forget, loan_action::drop, loan_action::restate,
                 loan_action::record, loan_action::complete, loan_action::drain, end, fail>;
using steal_actions = std::vector<steal_action>;

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
  void please_stop(steal_actions& out);
  /// After drain: no thread runs a task any more. Said again, it goes on with what is to be returned.
  void quiet(steal_actions& out);
  void on(rank_id from, peer_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  void tick(steal_actions& out);

  [[nodiscard]] std::optional<debt_id> current() const { return current_; }
  [[nodiscard]] bool hungry() const { return !current_ && !draining_ && !ended_; }
  /// Hungry, and without an answer to wait for.
  [[nodiscard]] bool resting() const { return hungry() && !asked_; }
  [[nodiscard]] std::optional<rank_id> asked() const { return asked_; }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool ended() const { return ended_; }
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

  void tell(rank_id to, peer_message_kind what, std::uint64_t number, steal_actions& out) const;
  void turn_to_work(steal_actions& out);
  void ask_next(steal_actions& out);
  void send_away(rank_id thief, std::optional<rank_id> hint, steal_actions& out) const;
  void settle_if_done(debt_id id, steal_actions& out);
  void on_loan(rank_id from, loan_id number, steal_actions& out);
  void on_paid(rank_id from, loan_id number, steal_actions& out);
  void on_held(rank_id from, std::vector<loan_id> const& numbers, steal_actions& out) const;
  void on_returned(rank_id from, loan_id number, steal_actions& out);
  void take_back(loan_id number, steal_actions& out);
  void drop(debt_id id, steal_actions& out);
  void start_draining(bool keeps, steal_actions& out);
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
  bool draining_ = false;
  bool returns_ = false;  // draining, and every debt goes back to its lender
  bool stop_heard_ = false;
  bool told_stopped_ = false;
  bool ended_ = false;
};

}  // namespace skel::role
