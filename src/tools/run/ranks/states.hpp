// The states that the processes of an MPI program report to their process manager.
#pragma once

#include <atomic>
#include <vector>

namespace skel::commands {

struct process_states {
  explicit process_states(unsigned processes) : inside(processes) {}
  std::vector<std::atomic<bool>> inside;  ///< of each: has called MPI_Init, but not MPI_Finalize
  std::atomic<int> aborted = 0;           ///< exit code for which one has called MPI_Abort
  void abort(int code) {
    int const kept = code & 0xff;  // as much of it as exit() keeps
    aborted = kept == 0 ? 1 : kept;
  }
};

}  // namespace skel::commands
