// What the ranks of a ring_steal call say to each other, beside what all skeletons say (call_message).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "role/call_message.hpp"
#include "role/codec.hpp"

namespace skel::role {

/// A loan, by the lender's own number; never used twice.
using loan_id = std::uint64_t;

/// Messages and, in action.hpp, actions. Tasks and results are not part of a message: the engine attaches
/// their bytes.
namespace steal {

/// Thief to victim: have you tasks for me?
struct ask {
  friend bool operator==(ask const&, ask const&) = default;
};
/// Victim to thief: no.
struct nothing {
  std::optional<rank_id> busy{};  ///< a rank that may have some
  friend bool operator==(nothing const&, nothing const&) = default;
};
/// Victim to thief: the tasks that travel with this message.
struct loan {
  loan_id number = 0;
  bool suspect = false;  ///< a rank was lost with these tasks, or with what they are part of
  bool again = false;    ///< and this rank alone is to run them next, to see whether they were the cause
  friend bool operator==(loan const&, loan const&) = default;
};
/// Borrower to lender: the result of the loan, including all that its tasks spawned.
struct paid {
  loan_id loan = 0;
  friend bool operator==(paid const&, paid const&) = default;
};
/// Borrower to lender: this rank turns to a loan that may have ended its last borrower. `lost`: it was the
/// lender of a part of the loan, these ranks were lost with that part, and it has to run it itself.
struct begins {
  loan_id loan = 0;
  std::vector<rank_id> lost{};
  friend bool operator==(begins const&, begins const&) = default;
};
/// Borrower to lender: what the loan is worth by now, a result so far and the tasks that are left.
struct worth {
  loan_id loan = 0;
  friend bool operator==(worth const&, worth const&) = default;
};
/// Borrower to lender: likewise, and the loan is over because the run ends early.
struct returned {
  loan_id loan = 0;
  friend bool operator==(returned const&, returned const&) = default;
};
/// Lender to borrower: do you still hold these loans?
struct held {
  std::vector<loan_id> loans{};
  friend bool operator==(held const&, held const&) = default;
};
/// Borrower to lender: not these.
struct not_held {
  std::vector<loan_id> loans{};
  friend bool operator==(not_held const&, not_held const&) = default;
};
/// Lender to borrower: the loan is void, drop it.
struct revoke {
  loan_id loan = 0;
  friend bool operator==(revoke const&, revoke const&) = default;
};
/// To the root: this rank has run so many tasks.
struct progress {
  std::uint64_t tasks = 0;
  friend bool operator==(progress const&, progress const&) = default;
};

}  // namespace steal

using steal_message =
    std::variant<call_message, steal::ask, steal::nothing, steal::loan, steal::paid, steal::begins,
                 steal::worth, steal::returned, steal::held, steal::not_held, steal::revoke, steal::progress>;

template <>
inline constexpr unsigned first_kind<steal_message> = 32;

}  // namespace skel::role
