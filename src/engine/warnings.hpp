// Warnings about the environment that the root prints before the first skeleton call.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace skel::detail {

/// Names the variables of this environment that begin with SKEL_ and that skel does not know, with the
/// nearest one that it knows.
[[nodiscard]] std::vector<std::string> unknown_variables(char const* const* environment);

/// A library in this process that may start threads within tasks.
struct inner_threads {
  char const* library;   ///< "OpenMP"
  char const* variable;  ///< that sets the number: "OMP_NUM_THREADS"
  int threads;           ///< for each call on a compute thread
};
/// The library of OpenMP or linear algebra that uses the most threads; empty if none of them is loaded.
[[nodiscard]] std::optional<inner_threads> find_inner_threads();
/// A warning if the threads of a rank together with those within its tasks are more than its cores. Empty
/// for one compute thread, as in a program without skel.
[[nodiscard]] std::string too_many_threads(int compute_threads, int cores, inner_threads const& inner);

}  // namespace skel::detail
