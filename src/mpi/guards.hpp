// Limits the time that a rank of run_main spends inside MPI, which may wait forever for a dead
// rank.
#pragma once

#include <condition_variable>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace skel::detail {

/// Prints `program: what` on standard error.
void say(std::string const& program, std::string const& what);

/// Calls a function four times a second, on its own thread, with the seconds for which this process
/// has been running since the start. Excludes time for which the process was stopped.
class watch {
 public:
  explicit watch(std::function<void(double ran)> look);
  watch(watch const&) = delete;
  watch& operator=(watch const&) = delete;
  ~watch();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

/// Guards the time until the first heartbeat: MPI_Init and the collective calls that create a
/// context. Ends the process with exit code 1 and one line when a rank is seen to have died,
/// otherwise after 60 s.
[[nodiscard]] std::unique_ptr<watch> watch_start(std::string const& program);

/// Guards the time after that. skel's calls do not block, but Open MPI's shared memory spins
/// forever if a rank was killed while it added to a queue. Ends the process with exit code 1 and
/// one line if a call has not returned for six times the silence after which other ranks declare
/// this rank dead.
[[nodiscard]] std::unique_ptr<watch> watch_calls(std::string const& program, int rank,
                                                 std::optional<double> suspect_after);

/// Guards the time after the ranks have agreed on the end of the job: MPI_Finalize would wait for a
/// rank that dies now. Ends the process with the agreed exit code, and with one line on rank 0. It
/// does so after the silence that means a loss if the launcher survives losses, otherwise after 60
/// s.
[[nodiscard]] std::unique_ptr<watch> watch_end(std::string const& program, int rank, int code,
                                               std::optional<double> suspect_after);

/// Guards MPI_Finalize against MPI's own threads: one of Open MPI 4.1 sometimes reads memory that was
/// freed (https://github.com/open-mpi/ompi/issues/10117). Results are complete and reported by then, so
/// a crash ends the process with the agreed exit code and one line. At most one at a time.
class crash_guard {
 public:
  crash_guard(std::string const& program, int code);
  crash_guard(crash_guard const&) = delete;
  crash_guard& operator=(crash_guard const&) = delete;
  ~crash_guard();

 private:
  struct sigaction before_segv_, before_bus_;
};

}  // namespace skel::detail
