// What a rank asks its supervisor to run.
#pragma once

#include <string>
#include <vector>

#include "tools/run/outcome.hpp"

namespace skel::commands {

/// Where commands run and what becomes of their output; the same for all.
struct surroundings {
  std::string folders{};     ///< --folders: each runs in a folder of its own below this one
  std::string files{};       ///< --files: their output goes to files in this folder; empty: streamed
  bool plain = false;        ///< --plain: streamed lines have no prefix
  double limit_seconds = 0;  ///< --task-time-limit; 0: none
  unsigned cores = 0;        ///< --cores, for OMP_NUM_THREADS; 0: not given

  [[nodiscard]] bool have_files() const { return !folders.empty() || !files.empty(); }
};

struct request {
  command what;
  surroundings where;
  /// Of an MPI program (--ranks-per-task): the cores of each of its processes. Empty: one process.
  std::vector<std::string> cores{};
};

/// What the supervisor answers.
struct reply {
  outcome how;
  std::string error{};  ///< why the command could not be started; empty: it was
};

}  // namespace skel::commands
