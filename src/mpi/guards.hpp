// Limits on the time that a rank of run_main spends inside MPI, where a dead rank may be waited for in vain.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace skel::detail {

/// Calls a function four times a second, on a thread of its own, with the seconds that this process has been
/// running for since the beginning. Time for which it was stopped does not count.
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

/// Until the first heartbeat: MPI_Init and the collective calls that make a context. Ends the process with
/// exit code 1 and one line when a rank is seen to have died, otherwise after 60 s.
[[nodiscard]] std::unique_ptr<watch> watch_start(std::string const& program);

/// From then on: skel's calls do not block, but Open MPI's shared memory spins for ever when a rank was
/// killed while it added to a queue. Ends the process with exit code 1 and one line when a call has not
/// returned for six times the silence after which the others take this rank for lost.
[[nodiscard]] std::unique_ptr<watch> watch_calls(std::string const& program, int rank,
                                                 std::optional<double> suspect_after);

/// When the ranks have agreed on how the job ends: MPI_Finalize would wait for a rank that dies now. Ends the
/// process with the agreed exit code, and with one line on rank 0: after the silence that means a loss where
/// the launcher survives losses, otherwise after 60 s.
[[nodiscard]] std::unique_ptr<watch> watch_end(std::string const& program, int rank, int code,
                                               std::optional<double> suspect_after);

}  // namespace skel::detail
