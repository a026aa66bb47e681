// Answers the processes of an MPI program in place of an mpiexec with PMI-1 (MPICH and its relatives).
#pragma once

#include <poll.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/ranks/states.hpp"

namespace skel::commands {

/// The wire protocol is that of MPICH's "simple PMI": lines of `key=value`, over a socket of each process.
/// All processes run on this host.
class pmi_server {
 public:
  /// Throws skel::error.
  explicit pmi_server(process_states& states);
  ~pmi_server();
  pmi_server(pmi_server const&) = delete;
  pmi_server& operator=(pmi_server const&) = delete;

  /// The variables, NAME=VALUE, by which the process with this rank finds the server.
  [[nodiscard]] std::vector<std::string> variables(unsigned rank) const;
  /// The descriptor that this process inherits.
  [[nodiscard]] int descriptor(unsigned rank) const { return processes_[rank].theirs; }
  /// The process has been started.
  void started(unsigned rank);
  /// For poll(): one entry for each rank.
  [[nodiscard]] std::vector<pollfd> waits() const;
  /// Answers what a process has sent.
  void serve(unsigned rank);
  /// A request that this server does not know, for which the program is aborted; or empty.
  [[nodiscard]] std::string const& refused() const { return refused_; }

 private:
  struct process {
    int mine = -1, theirs = -1;
    std::string line{};  // has not ended yet
    bool waits = false;  // in a barrier
  };
  void answer(unsigned rank, std::string_view line);
  void enter_barrier(unsigned rank);
  void reply(unsigned rank, std::string line);

  process_states& states_;
  std::vector<process> processes_;
  std::map<std::string, std::string, std::less<>> values_;  // put by processes
  std::string refused_;
};

}  // namespace skel::commands
