// What a stealer wants done.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "ring_steal/role/message.hpp"
#include "role/outcome.hpp"

namespace skel::role {

/// A debt: a loan from the borrower's side, by the borrower's own number. Number 0 is the root's: the whole
/// run.
using debt_id = std::uint64_t;

namespace steal {

/// Send `what` to `to`, perhaps this rank itself. The engine attaches
/// - to `loan`: tasks of debt `debt` that wait on this rank; it keeps a copy under the loan's number;
/// - to `paid`: the result of the debt, which it then forgets;
/// - to `worth` and `returned`: what the debt is worth, that is, the result so far and the tasks that wait,
///   run or are lent on, the latter as their borrowers have stated them last. With `returned` it then forgets
///   the debt.
struct send {
  rank_id to = 0;
  steal_message what{};
  debt_id debt = 0;
  friend bool operator==(send const&, send const&) = default;
};
/// The borrower of `loan` is lost: what it has stated of results is part of `debt`, the tasks that are left
/// stay apart under the loan's number.
struct set_apart {
  loan_id loan = 0;
  debt_id debt = 0;
  friend bool operator==(set_apart const&, set_apart const&) = default;
};
/// Send `what` to `to`, and attach the tasks that were set apart as loan `parcel`; keep the copy under the
/// new loan's number.
struct lend_again {
  loan_id parcel = 0;
  rank_id to = 0;
  loan what{};
  friend bool operator==(lend_again const&, lend_again const&) = default;
};
/// The message just handled states what `loan`, a part of `debt`, is worth: keep the result so far and the
/// tasks that are left in place of the tasks that were lent.
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
/// The tasks of `loan` are not needed any more: the debt that it was part of is void.
struct forget {
  loan_id loan = 0;
  friend bool operator==(forget const&, forget const&) = default;
};
/// This debt is void: drop its tasks and results, and what threads still run of it.
struct drop {
  debt_id debt = 0;
  friend bool operator==(drop const&, drop const&) = default;
};
/// On the root: debt 0 is paid, or the run is stopped early and all other debts are returned. The result of
/// debt 0 is that of the run.
struct complete {
  friend bool operator==(complete const&, complete const&) = default;
};

}  // namespace steal

/// After `drain` the engine says quiet() when no thread runs a task, and again whenever something has come
/// after that. Unless the run ends early, what this rank owes and has lent is not needed any more. A task
/// that throws while the run ends early brings a second `drain`.
using steal_action =
    std::variant<steal::send, steal::accept, steal::work, steal::settle, steal::set_apart, steal::lend_again,
                 steal::take_back, steal::forget, steal::drop, steal::restate, steal::record, steal::complete,
                 tell_root, drain, end, fail>;
using steal_actions = std::vector<steal_action>;

}  // namespace skel::role
