// Messages between the ranks of a ring_steal call, beside those of all skeletons (call_message), and actions.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// A loan, by a number that no rank uses twice. It keeps it when another rank takes the lender's place.
using loan_id = std::uint64_t;

/// A bound of the user's job as a number that grows as the bound improves. 0: none is known.
using bound_key = std::uint64_t;

/// Tasks and results are not part of a message: the engine attaches their bytes.
namespace steal {
using role::operator==;

/// Thief to victim: requests tasks.
struct ask {
  bound_key bound = 0;  ///< the best one that the thief knows
};
/// Victim to thief: has no tasks to give.
struct nothing {
  std::optional<rank_id> busy{};  ///< a rank that may have tasks
};
/// Victim to thief: lends the tasks that travel with this message.
struct loan {
  loan_id number = 0;
  bool suspect = false;  ///< a rank was lost while it held these tasks, or the work that they belong to
  bool again = false;    ///< this rank alone runs them next, to test whether they caused the loss
  bound_key bound = 0;   ///< the best one that the victim knows
};
/// Borrower to lender: the result of the loan, including all that its tasks spawned.
struct paid {
  loan_id loan = 0;
};
/// Borrower to lender: starts on a loan that may have ended its previous borrower. `lost`: the
/// ranks that were lost with a part of the loan that this rank had lent on and must now run itself.
struct begins {
  loan_id loan = 0;
  std::vector<rank_id> lost{};
};
/// Borrower to lender: the current value of the loan: a partial result and the remaining tasks.
struct worth {
  loan_id loan = 0;
};
/// Borrower to lender: like `worth`, and the loan is over because the run ends early.
struct returned {
  loan_id loan = 0;
};
/// Lender to borrower: asks whether the borrower still holds these loans.
struct held {
  std::vector<loan_id> loans{};
};
/// Borrower to lender: does not hold these loans.
struct not_held {
  std::vector<loan_id> loans{};
};
/// Lender to borrower: the loan is void; drop it.
struct revoke {
  loan_id loan = 0;
};
/// Lender to borrower: leaves the call. The borrower says nothing more about the loan until another rank has
/// taken it over.
struct moves {
  loan_id loan = 0;
};
/// A part of a loan that its borrower has lent on.
struct legacy {
  rank_id borrower = 0;
  loan_id number = 0;
  bool again = false;  ///< it was a parcel, or is a part of one
};
/// Borrower to lender: leaves the call, and hands back the loan: its own part of it, and what it has lent on.
struct bequeaths {
  loan_id loan = 0;
  bool work = false;     ///< its own part has tasks
  bool suspect = false;  ///< these may have ended a rank
  std::vector<legacy> loans{};
};
/// To the borrower of a loan of rank `of`: this rank is the lender now.
struct inherits {
  loan_id loan = 0;
  rank_id of = 0;
};
/// To a rank that leaves: what was said about this loan has arrived, and so all that came before.
struct heard {
  loan_id loan = 0;
};
/// To the root: the number of tasks that this rank has run.
struct progress {
  std::uint64_t tasks = 0;
};

/// To a rank further along the ring: a better bound. The receiver passes it on to the `reach` ranks
/// behind itself.
struct better {
  bound_key bound = 0;
  std::uint64_t reach = 0;
};

}  // namespace steal

using steal_message =
    std::variant<call_message, steal::ask, steal::nothing, steal::loan, steal::paid, steal::begins,
                 steal::worth, steal::returned, steal::held, steal::not_held, steal::revoke, steal::progress,
                 steal::better, steal::moves, steal::bequeaths, steal::inherits, steal::heard>;

template <>
inline constexpr unsigned first_kind<steal_message> = 32;

/// The borrower's number for a loan. Number 0 is the root's debt: the whole run.
using debt_id = std::uint64_t;

namespace steal {

/// Send `what` to `to`, which may be this rank. The engine attaches
/// - to `loan`: waiting tasks of debt `debt`; it keeps a copy under the loan's number;
/// - to `paid`: the result of the debt, which it then forgets;
/// - to `worth` and `returned`: the value of the debt: the partial result and the tasks that wait, run or are
///   lent on, the latter as last stated by their borrowers. After `returned` it forgets the debt;
/// - to `bequeaths`: the value of the debt without what is lent on, then that of each loan.
struct send {
  rank_id to = 0;
  steal_message what{};
  debt_id debt = 0;
};
/// The borrower of `loan` is lost. Merge its stated results into `debt`; keep the remaining tasks
/// apart, in parcels as cut() says.
struct set_apart {
  loan_id loan = 0;
  debt_id debt = 0;
};
/// Send `what` to `to` and attach the tasks that were set apart as loan `parcel`. Keep the copy
/// under the new loan's number.
struct lend_again {
  loan_id parcel = 0;
  rank_id to = 0;
  loan what{};
};
/// The current message states the value of `loan`, a part of `debt`: keep the partial result and
/// the remaining tasks in place of the tasks that were lent. Then that of each loan inherited with it.
struct restate {
  loan_id loan = 0;
  debt_id debt = 0;
  std::vector<loan_id> inherited{};
};
/// This rank has inherited its own `loan`: the debt `own` becomes a part of `debt`, with all that runs or is
/// lent.
struct absorb {
  loan_id loan = 0;
  debt_id own = 0;
  debt_id debt = 0;
};
/// On the root: record the current value of debt 0 as a checkpoint of the run.
struct record {};
/// The tasks that came with the current message form a new debt.
struct accept {
  debt_id debt = 0;
};
/// Let compute threads work on this debt; answer with dry().
struct work {
  debt_id debt = 0;
};
/// Merge the result that came with the current message into `debt`. The tasks of `loan` are no longer needed.
struct settle {
  loan_id loan = 0;
  debt_id debt = 0;
};
/// Take back `loan` into `debt`: its tasks wait, its result is merged.
struct take_back {
  loan_id loan = 0;
  debt_id debt = 0;
};
/// The tasks of `loan` are no longer needed: the debt that it belonged to is void.
struct forget {
  loan_id loan = 0;
};
/// This debt is void: drop its tasks and results, including running tasks.
struct drop {
  debt_id debt = 0;
};
/// On the root: debt 0 is paid, or the run is stopped early and all other debts are returned. The
/// result of debt 0 is the result of the run.
struct complete {};

}  // namespace steal

/// After `drain`, the engine calls quiet() when no thread runs a task, and again after each later
/// message. Unless the run ends early, debts and loans are no longer needed. A task that throws
/// while the run ends early causes a second `drain`.
using steal_action =
    std::variant<steal::send, steal::accept, steal::work, steal::settle, steal::set_apart, steal::lend_again,
                 steal::take_back, steal::forget, steal::drop, steal::restate, steal::absorb, steal::record,
                 steal::complete, tell_root, drain, end, fail>;
using steal_actions = std::vector<steal_action>;

}  // namespace skel::role
