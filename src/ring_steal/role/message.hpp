// Messages between the ranks of a ring_steal call, in addition to those of all skeletons
// (call_message).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/call_message.hpp"
#include "protocol/codec.hpp"

namespace skel::role {

/// A loan, by the lender's own number; never used twice.
using loan_id = std::uint64_t;

/// A bound of the user's job as a number that grows as the bound improves. 0: none is known.
using bound_key = std::uint64_t;

/// Messages and, in action.hpp, actions. Tasks and results are not part of a message: the engine
/// attaches their bytes.
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

using steal_message = std::variant<call_message, steal::ask, steal::nothing, steal::loan, steal::paid,
                                   steal::begins, steal::worth, steal::returned, steal::held, steal::not_held,
                                   steal::revoke, steal::progress, steal::better>;

template <>
inline constexpr unsigned first_kind<steal_message> = 32;

}  // namespace skel::role
