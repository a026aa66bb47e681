// Detects whether standard error is shown on a terminal, and its width.
#pragma once

#include <optional>

namespace skel::observe {

/// Returns the columns of the terminal that shows this process's standard error; empty if it is not
/// a terminal. mpiexec reads the ranks' standard error through pipes and copies it to its own, so
/// the launcher's standard error decides.
std::optional<int> error_terminal_width();

}  // namespace skel::observe
