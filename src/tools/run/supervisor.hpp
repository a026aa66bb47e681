// A process beside each rank that starts its commands and ends them with it.
#pragma once

#include <sys/types.h>

#include "tools/run/request.hpp"

namespace skel::commands {

/// The supervisor of this rank. It is the subreaper of all that the commands start: when the rank ends, in
/// whatever way, it ends every one of these processes, also those in sessions of their own. The rank is the
/// subreaper of the supervisor: if that is killed, the rank does the same and ends.
class supervisor {
 public:
  /// Forks: before MPI and any thread. Throws skel::error.
  supervisor();
  /// Waits until no process of a command is left.
  ~supervisor();
  supervisor(supervisor const&) = delete;
  supervisor& operator=(supervisor const&) = delete;

  /// The way of one compute thread to the supervisor.
  class connection {
   public:
    connection() = default;
    ~connection();
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;

   private:
    friend class supervisor;
    int socket_ = -1;
  };
  /// Runs a command and waits for its end. Throws skel::error if it cannot be started.
  [[nodiscard]] outcome run(connection& by, request const& what);

 private:
  [[noreturn]] static void lost();

  int main_ = -1;
  pid_t process_ = 0;
};

}  // namespace skel::commands
