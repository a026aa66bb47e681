// Processes of commands: how they are started and ended.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace skel::commands {

/// The environment of command number `task`: that of this process, without the variables by which an MPI
/// library tells a process that it is a rank, so that a command may be an MPI program or start one; and
/// with SKEL_TASK=`task` and SKEL_FROM, the folder of this process. With `cores`, which must always be the
/// same, also OMP_NUM_THREADS. Valid until the next call.
[[nodiscard]] char* const* environment_of(std::string const& task, unsigned cores);

/// Streams, limit of descriptors and folder of a command.
struct process_setup {
  rlimit files{};
  int output = 1, errors = 2;
  char const* folder = nullptr;  ///< nullptr: this process's own
  bool in_group = false;         ///< the process joins this process's group
  int kept = -1;                 ///< a descriptor that the process inherits, beside the streams
};

/// Starts the program whose path is the first of the words, otherwise like start().
[[nodiscard]] pid_t start_program(std::vector<std::string> const& words, char* const* environment,
                                  process_setup const& setup);

/// Starts a command line in a process group of its own, which ends if this process does: its first process,
/// at least. Words that need no shell run without one. Standard input is this process's own. Returns 0, with
/// errno, if no process can be made. The calling thread must live as long as the process.
[[nodiscard]] pid_t start(std::string const& line, char* const* environment, process_setup const& setup);

/// Ends the command's process group by `signal`, and by SIGKILL those of its descendants that have left it.
void end_group(pid_t leader, int signal);

/// Ends all descendants of this process, which must be their subreaper (PR_SET_CHILD_SUBREAPER), and waits
/// for them. Those that may not be killed are left.
void end_descendants();

}  // namespace skel::commands
