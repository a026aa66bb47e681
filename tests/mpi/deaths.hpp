// Kills ranks as a test requests, and prints the root's summary, which survivors.hpp reads.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "skel/report.hpp"

namespace test {

[[noreturn]] inline void die() {
  std::raise(SIGKILL);
  std::abort();
}

/// As a task with a fault does.
[[noreturn]] inline void crash() {
  std::raise(SIGSEGV);
  std::abort();
}

/// Kills this rank after `time` if `still` returns true then.
template <class Condition>
void die_in(std::chrono::microseconds time, Condition still) {
  std::thread([time, still] {
    std::this_thread::sleep_for(time);
    if (still()) die();
  }).detach();
}
inline void die_in(std::chrono::microseconds time) {
  die_in(time, [] { return true; });
}

/// Decides which rank dies when. The program handles deaths inside tasks ("first" and the like).
struct plan_of_deaths {
  std::string when;
  std::uint64_t seed = 0;
  int ranks = 1;
  std::chrono::microseconds work{};  ///< the approximate duration of the whole call
  int attempt = 1;                   ///< of the body (skel::context::attempt)

  /// The rank that dies inside a task if only one does; -1 in later attempts.
  [[nodiscard]] int victim() const {
    return attempt > 1 ? -1 : 1 + static_cast<int>(seed % static_cast<std::uint64_t>(ranks - 1));
  }

  /// The time from the start of the call to the death of `rank`; empty if it survives.
  [[nodiscard]] std::optional<std::chrono::microseconds> lifetime(int rank) const {
    using namespace std::chrono_literals;
    std::mt19937_64 dice(seed + static_cast<std::uint64_t>(attempt) - 1);
    auto const below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n));
    };
    bool const again = when == "successor" && attempt == 2;
    if (attempt > 1) return again && rank == 0 ? std::optional(below(work.count()) * 1us) : std::nullopt;
    int const first = 1 + static_cast<int>(below(ranks - 1));
    int const second = 1 + first % (ranks - 1);
    std::chrono::microseconds const time(below(work.count()));
    bool const root_too = when == "root" || when == "successor" || when == "root+1";
    if (rank == 0) return root_too ? std::optional(time) : std::nullopt;
    if (when == "root+1" && rank == first) return time;
    if (when == "random" && rank == first) return time;
    if (when == "late" && rank == first) return 100ms + time / 4;
    if (when == "two" && (rank == first || rank == second)) return time;
    if (when == "all") return time + work / 7 * rank * below(3);  // together or one after the other
    return std::nullopt;
  }
};

/// Prints "right, lost 2, before 1 3, again 31"; called on the root. Without "before" if no rank was. After
/// the loss of the root, with the attempt: "right, lost, again 0, attempt 2".
inline void say_losses(bool right, skel::report const& report) {
  std::printf("%s, lost", right ? "right" : "WRONG");
  for (int const rank : report.lost_ranks) std::printf(" %d", rank);
  if (!report.lost_before.empty()) std::printf(", before");
  for (int const rank : report.lost_before) std::printf(" %d", rank);
  std::printf(", again %llu", static_cast<unsigned long long>(report.tasks_handed_out_again));
  if (report.attempt > 1) std::printf(", attempt %d", report.attempt);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace test
