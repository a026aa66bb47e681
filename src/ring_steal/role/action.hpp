// Actions of a steal_member.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "protocol/outcome.hpp"
#include "ring_steal/role/message.hpp"

namespace skel::role {

/// The borrower's number for a loan. Number 0 is the root's debt: the whole run.
using debt_id = std::uint64_t;

namespace steal {

/// Send `what` to `to`, which may be this rank. The engine attaches
/// - to `loan`: waiting tasks of debt `debt`; it keeps a copy under the loan's number;
/// - to `paid`: the result of the debt, which it then forgets;
/// - to `worth` and `returned`: the value of the debt: the partial result and the tasks that wait,
///   run or are lent on, the latter as last stated by their borrowers. After `returned` it forgets
///   the debt.
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
/// the remaining tasks in place of the tasks that were lent.
struct restate {
  loan_id loan = 0;
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
/// Merge the result that came with the current message into `debt`. The tasks of `loan` are no
/// longer needed.
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
                 steal::take_back, steal::forget, steal::drop, steal::restate, steal::record, steal::complete,
                 tell_root, drain, end, fail>;
using steal_actions = std::vector<steal_action>;

}  // namespace skel::role
