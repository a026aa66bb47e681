// Answers the processes of an MPI program in place of an mpiexec with PMIx (Open MPI).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace skel::commands {

/// What the processes of a program have told their process manager.
struct process_states {
  explicit process_states(unsigned processes) : inside(processes) {}
  std::vector<std::atomic<bool>> inside;  ///< of each: has called MPI_Init, but not MPI_Finalize
  std::atomic<int> aborted = 0;           ///< exit code for which one has called MPI_Abort
};

/// A server for one program, all of whose processes run on this host. A process can have only one, which runs
/// in threads of its own. Sends this process SIGCHLD when `states.aborted` changes.
class pmix_server {
 public:
  /// Uses `folder`, which must be empty. Throws skel::error.
  pmix_server(std::string const& folder, process_states& states);
  /// Removes what ended processes have left in shared memory.
  ~pmix_server();
  pmix_server(pmix_server const&) = delete;
  pmix_server& operator=(pmix_server const&) = delete;

  /// The variables, NAME=VALUE, by which the process with this rank finds the server.
  [[nodiscard]] std::vector<std::string> variables(unsigned rank) const;

 private:
  std::string name_;  // of the job
};

}  // namespace skel::commands
