// Answers the processes of an MPI program in place of an mpiexec with PMIx (Open MPI).
#pragma once

#include <string>
#include <vector>

#include "tools/run/ranks/states.hpp"

namespace skel::commands {

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
