// Passes on exit codes that mpiexec drops.
#pragma once

#include <string>

namespace skel::detail {

/// This process runs the body for this time, from 1 on.
void note_attempt(int attempt);

/// Appends "RANK CODE" (after the first attempt less a million for each, so that lines of the last one are
/// the first in order), and `reason` if it is not empty, to the file named by SKEL_EXIT_STATUS_FILE, if set.
/// Open MPI 4's mpiexec exits with 0 if it is to survive losses, whatever the ranks return.
/// scripts/skel-mpiexec reads this file instead. A reason tells it that losses ended the job, which can then
/// be started again; it is printed if mpiexec hangs with the output of the ranks.
void report_exit_status(int rank, int code, std::string const& reason = {});

inline constexpr char const* loss_ended_the_job = "a rank was lost";  ///< such a reason

/// Ends this process at once: reports its status, flushes its streams and skips all destructors. Gives up on
/// streams after a second, because a thread that hangs may hold the lock of one.
[[noreturn]] void end_process(int rank, int code, std::string const& reason = {});

/// Whether a rank has reported its status, as far as this host can see.
[[nodiscard]] bool exit_status_reported();

}  // namespace skel::detail
