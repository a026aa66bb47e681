// Is somebody looking at standard error, and how wide is their terminal?
#pragma once

#include <optional>

namespace skel::observe {

/// Columns of the terminal where our standard error ends up, nothing if it is no terminal. mpiexec reads the
/// ranks' standard error through pipes and copies it to its own: then the launcher's standard error is what
/// counts.
std::optional<int> error_terminal_width();

}  // namespace skel::observe
