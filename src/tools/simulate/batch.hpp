// Several simulations by one program. SimGrid allows one per process, and loading its libraries takes
// longer than a small simulation, so each runs in a fork.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace skel::simulate {

/// Reads the runs of a file: one word of the command line per line, and an empty line after each run.
/// Throws usage_error if the file cannot be read or has no run.
[[nodiscard]] std::vector<std::vector<std::string>> read_batch(std::string const& path);

/// Calls `simulate` with the words of each run, one run per core at a time, each in a process of its own.
/// Stops after the first failure. Returns its exit code, or 0.
[[nodiscard]] int run_batch(std::vector<std::vector<std::string>> const& runs,
                            std::function<int(std::vector<std::string>)> const& simulate);

}  // namespace skel::simulate
