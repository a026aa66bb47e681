// MPI programs that are commands: all processes of one are started on the host of its rank.
#pragma once

#include <sys/types.h>

#include <string>

#include "tools/run/process.hpp"
#include "tools/run/request.hpp"

namespace skel::commands {

/// The cores on which this process may run, as the kernel writes them: 0-3,8.
[[nodiscard]] std::string own_cores();

/// Why this build cannot start MPI programs, in one line; empty: it can.
[[nodiscard]] std::string why_no_ranks();

/// Starts skel-run-ranks, which starts the processes. It is the leader of the command's process group.
class ranks_starter {
 public:
  ranks_starter() = default;
  ~ranks_starter();
  ranks_starter(ranks_starter const&) = delete;
  ranks_starter& operator=(ranks_starter const&) = delete;

  /// Like start(). Throws skel::error.
  [[nodiscard]] pid_t start(request const& what, char* const* environment, process_setup const& setup);

 private:
  std::string folder_;  // of all programs; removed when they have ended, whatever has ended them
};

}  // namespace skel::commands
