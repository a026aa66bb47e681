// Messages about taking part in a call and about its end, common to all skeletons.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/overloaded.hpp"
#include "outcome.hpp"

namespace skel::role {

/// To the root: this rank takes part.
struct hello {
  std::uint64_t call_hash = 0;  ///< of everything that must be the same on all ranks
  std::uint64_t threads = 1;    ///< compute threads; 0: it does not compute
  double power = 0;             ///< relative power, if measured; 0: not measured
};
/// To the root: a task threw.
struct failed {
  task_id task = 0;
  std::string text{};
};
/// To the root: requests an early end of the run.
struct please_stop {};
/// To the root: a part of the work that is still needed existed only on the lost rank `rank`.
struct part_lost {
  rank_id rank = 0;
};
/// To the root: this task was running on each of these lost ranks and must not end another one.
struct blamed {
  task_id task = 0;
  std::vector<rank_id> ranks{};
  std::uint64_t more = 0;  ///< number of other blamed tasks
  std::string text{};      ///< describes the work if the number does not
};
/// To the root: nothing runs any more. The rank's statistics travel with it.
struct stopped {};
/// From the root: start nothing more, and answer with `stopped` when nothing runs.
struct stop {
  bool early = false;  ///< results so far are still needed
};
/// From the root: the run is over. Carries the result if all ranks receive it.
struct finish {
  outcome how{};
};
/// From the root: the run cannot continue.
struct abort {
  std::string text{};
};

using call_message =
    std::variant<hello, failed, please_stop, part_lost, blamed, stopped, stop, finish, abort>;

/// Whether the root's roll call handles the message; the others are for the rank's attendance.
[[nodiscard]] inline bool for_roll_call(call_message const& m) { return !holds_any<stop, finish, abort>(m); }

/// An action: send this to the root.
struct tell_root {
  call_message what;
};
/// An action: start nothing more, and answer with quiet() when nothing runs.
struct drain {
  bool early = false;  ///< the run ends early: keep the results so far
};

}  // namespace skel::role
