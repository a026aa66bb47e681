// Exit codes that mpiexec does not pass on.
#pragma once

namespace skel::detail {

/// Appends "RANK CODE" to the file that SKEL_EXIT_STATUS_FILE names, if it does. Open MPI 4's mpiexec ends
/// with 0 when it was told to survive losses, whatever the ranks end with; scripts/skel-mpiexec reads this
/// file instead.
void report_exit_status(int rank, int code);

/// Whether a rank has done so, as far as can be seen on this host.
[[nodiscard]] bool exit_status_reported();

}  // namespace skel::detail
