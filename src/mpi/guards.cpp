#include "guards.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/format.hpp"
#include "engine/exit_status.hpp"
#include "engine/running_time.hpp"
#include "launcher.hpp"
#include "mpi_transport.hpp"
#include "siblings.hpp"

namespace skel::detail {

namespace {

constexpr double patience_without_reason = 60;

// Other threads may hold any lock, so nothing is cleaned up.
[[noreturn]] void leave(int rank, int code, std::string const& reason) {
  report_exit_status(rank, code, reason);
  _exit(code);
}

// What the handler of a crash needs, since it may call next to nothing.
int code_after_crash = 0;
std::string line_after_crash;

extern "C" void leave_after_crash(int /*signal*/) {
  static_cast<void>(!::write(STDERR_FILENO, line_after_crash.data(), line_after_crash.size()));
  _exit(code_after_crash);
}

}  // namespace

void say(std::string const& program, std::string const& what) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), what.c_str());
}

watch::watch(std::function<void(double ran)> look)
    : thread_([this, look = std::move(look)] {
        std::unique_lock lock(mutex_);
        running_time ran(steady_seconds(), 0.25);
        look(0);
        while (!ended_.wait_for(lock, std::chrono::duration<double>(ran.step()), [this] { return done_; }))
          look(ran.look(steady_seconds()));
      }) {}

watch::~watch() {
  {
    std::lock_guard const lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

std::unique_ptr<watch> watch_start(std::string const& program) {
  // If the launcher ends the job when a rank dies, it reports that itself.
  auto const others = launcher_survives_losses() ? std::make_shared<siblings>() : nullptr;
  return std::make_unique<watch>([program, others, known_since = -1.0](double ran) mutable {
    auto reason = others ? others->what_is_wrong(ran) : std::string();
    if (reason.empty() && ran < patience_without_reason) return;
    if (reason.empty()) {
      reason = detail::format("not all ranks have started within {:.0f} s", ran);
      say(program, reason);
    } else if (!exit_status_reported()) {  // reported once, possibly by another rank
      constexpr double patience_with_spokesman = 5;
      if (known_since < 0) known_since = ran;
      if (!others->is_spokesman() && ran - known_since < patience_with_spokesman) return;
      say(program, reason);
    }
    leave(0, 1, reason);
  });
}

std::unique_ptr<watch> watch_calls(std::string const& program, int rank,
                                   std::optional<double> suspect_after) {
  double const patience = suspect_after.value_or(5);
  double const limit = patience > 0 ? 6 * std::max(1.0, patience) : patience_without_reason;
  struct call {
    std::uint64_t number = 0;
    double since = 0;
  };
  return std::make_unique<watch>([program, rank, limit, seen = call()](double ran) mutable {
    auto const number = transport::mpi_transport::calls();
    bool const inside = number % 2 != 0;
    if (!inside || number != seen.number) seen = {number, ran};
    double const stuck = ran - seen.since;
    if (stuck < limit) return;
    auto const reason = detail::format(
        "rank {} has been inside one call of MPI for {:.0f} s: another rank was killed in the middle of a "
        "message, or "
        "MPI hangs",
        rank, stuck);
    say(program, reason);
    leave(rank, 1, reason);
  });
}

std::unique_ptr<watch> watch_end(std::string const& program, int rank, int code,
                                 std::optional<double> suspect_after) {
  double const patience = suspect_after.value_or(5);
  double const limit =
      launcher_survives_losses() && patience > 0 ? std::max(1.0, patience) : patience_without_reason;
  return std::make_unique<watch>([program, rank, code, limit](double ran) {
    if (ran < limit) return;
    std::string const reason = "a rank died after the run had ended: leaving without MPI_Finalize";
    if (rank == 0) say(program, reason);
    std::fflush(nullptr);
    leave(rank, code, reason);
  });
}

crash_guard::crash_guard(std::string const& program, int code) {
  code_after_crash = code;
  line_after_crash = program + ": the run was complete, but MPI crashed in MPI_Finalize\n";
  struct sigaction leave {};
  leave.sa_handler = leave_after_crash;
  ::sigaction(SIGSEGV, &leave, &before_segv_);
  ::sigaction(SIGBUS, &leave, &before_bus_);
}

crash_guard::~crash_guard() {
  ::sigaction(SIGSEGV, &before_segv_, nullptr);
  ::sigaction(SIGBUS, &before_bus_, nullptr);
}

}  // namespace skel::detail
