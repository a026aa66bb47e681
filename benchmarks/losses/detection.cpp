// A rank kills itself inside a farm, and every other rank prints when it knew, and how:
//   mpiexec -n 4 build/release/bin/skel-bench-detection VICTIM MILLISECONDS
// Lines are "killed RANK NANOSECONDS" and "known RANK NANOSECONDS WAY", of a clock that all processes of this
// machine share. MILLISECONDS: until the kill.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/skel.hpp"

namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// Whole lines, which the lines of other ranks do not split.
void say(char const* what, int rank, std::int64_t when, char const* how) {
  std::array<char, 100> line;
  int const n = std::snprintf(line.data(), line.size(), "%s %d %lld %s\n", what, rank,
                              static_cast<long long>(when), how);
  std::fwrite(line.data(), 1, static_cast<std::size_t>(n), stdout);
  std::fflush(stdout);
}

// Looks every 50 us whether this rank knows of a loss.
void watch(std::stop_token const& stop, skel::detail::engine& engine, int rank) {
  constexpr std::array ways{"silence", "ended", "mpi", "agreed", "connection"};
  for (bool last = false; !last;) {
    last = stop.stop_requested();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    auto how = skel::loss_notice::agreed;
    {
      std::lock_guard const lock(engine.mutex());
      if (engine.wires().lost().empty() && !engine.farewell().view_ended()) continue;
      if (auto const losses = engine.losses(); !losses.empty()) how = losses.front().noticed;
    }
    return say("known", rank, now_ns(), ways.at(static_cast<std::size_t>(how)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int const victim = argc > 1 ? std::atoi(argv[1]) : 0;
  std::chrono::milliseconds const delay(argc > 2 ? std::atoi(argv[2]) : 300);
  return skel::run_main(argc, argv, skel::restartable([&](skel::context& ctx) {
                          if (ctx.size() < 2 && ctx.attempt() == 1)
                            throw skel::usage_error("needs at least 2 ranks");
                          std::jthread second;
                          if (ctx.attempt() == 1 && ctx.rank() == victim)
                            second = std::jthread([&] {
                              std::this_thread::sleep_for(delay);
                              say("killed", victim, now_ns(), "");
                              std::raise(SIGKILL);
                            });
                          else if (ctx.attempt() == 1)
                            second = std::jthread([&](std::stop_token const& stop) {
                              watch(stop, skel::detail::context_access::engine_of(ctx), ctx.rank());
                            });
                          // Tasks of a millisecond, in which the processor is free: for half a second after
                          // the kill.
                          auto const tasks = static_cast<std::uint64_t>(ctx.size()) *
                                             static_cast<std::uint64_t>(delay.count() + 500);
                          skel::farm(
                              ctx, skel::indices(ctx.attempt() == 1 ? tasks : 1),
                              [](std::uint64_t i) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                return i;
                              },
                              skel::schedule::adaptive{}, [](skel::task_id, std::uint64_t) {});
                        }));
}
