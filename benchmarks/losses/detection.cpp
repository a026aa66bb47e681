// A rank kills itself inside a farm, and every other rank prints when it knew, and how:
//   mpiexec -n 4 build/release/bin/skel-bench-detection VICTIM MILLISECONDS [TASKS TASK_MILLISECONDS
//   [MEGABYTES]]
// Lines are "EVENT RANK NANOSECONDS WAY", of a clock that all processes of this machine share: "began" and
// "done" of a farm on its root, "killed", "known", and "again" with the first task of a rank in the next
// attempt. VICTIM: -1: none. MILLISECONDS: until the kill. TASKS: 0: enough, and the next attempt does not
// repeat them. A task leaves the processor free. MEGABYTES: of memory that each rank has filled.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
  auto const given_tasks = static_cast<std::uint64_t>(argc > 3 ? std::atoll(argv[3]) : 0);
  std::chrono::milliseconds const task_time(argc > 4 ? std::atoi(argv[4]) : 1);
  std::vector<char> const filled(static_cast<std::size_t>(argc > 5 ? std::atoi(argv[5]) : 0) << 20U, 1);
  asm volatile("" : : "r"(filled.data()) : "memory");  // a compiler might leave it out
  return skel::run_main(
      argc, argv, skel::restartable([&](skel::context& ctx) {
        if (ctx.size() < 2 && ctx.attempt() == 1) throw skel::usage_error("needs at least 2 ranks");
        std::jthread second;
        if (ctx.attempt() == 1 && ctx.rank() == victim)
          second = std::jthread([&] {
            std::this_thread::sleep_for(delay);
            say("killed", victim, now_ns(), "");
            std::raise(SIGKILL);
          });
        else if (ctx.attempt() == 1 && victim >= 0)
          second = std::jthread([&](std::stop_token const& stop) {
            watch(stop, skel::detail::context_access::engine_of(ctx), ctx.rank());
          });
        auto tasks = given_tasks;
        if (tasks == 0)  // for half a second after the kill
          tasks = ctx.attempt() > 1 ? 1
                                    : static_cast<std::uint64_t>(ctx.size()) *
                                          static_cast<std::uint64_t>(delay.count() + 500);
        std::atomic<bool> first{ctx.attempt() > 1};
        if (ctx.is_root()) say("began", ctx.rank(), now_ns(), "");
        auto const r = skel::farm(
            ctx, skel::indices(tasks),
            [&](std::uint64_t i) {
              if (first.exchange(false)) say("again", ctx.rank(), now_ns(), "");
              std::this_thread::sleep_for(task_time);
              return i;
            },
            skel::schedule::adaptive{}, [](skel::task_id, std::uint64_t) {});
        if (ctx.is_root())
          say("done", ctx.rank(), now_ns(),
              std::to_string(r.report.checkpoint ? r.report.checkpoint->restored_tasks : 0).c_str());
      }));
}
