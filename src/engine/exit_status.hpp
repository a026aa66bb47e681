// Exit codes that mpiexec does not pass on.
#pragma once

#include <string>

namespace skel::detail {

/// Appends "RANK CODE", and a reason if there is one, to the file that SKEL_EXIT_STATUS_FILE names, if it
/// does. Open MPI 4's mpiexec ends with 0 when it was told to survive losses, whatever the ranks end with;
/// scripts/skel-mpiexec reads this file instead, and gives the reason where mpiexec is stuck, with what the
/// ranks have printed.
void report_exit_status(int rank, int code, std::string const& reason = {});

/// Whether a rank has done so, as far as can be seen on this host.
[[nodiscard]] bool exit_status_reported();

}  // namespace skel::detail
