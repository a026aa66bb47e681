// Schedules on real ranks, some of which are slowed down: tasks sleep, so that two cores suffice for all
// ranks.
//     mpiexec -n 4 --oversubscribe build/release/bin/skel-bench-slowed --tasks 8
//     mpiexec -n 4 --oversubscribe build/release/bin/skel-bench-slowed --tasks 32 --slow 0 1
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "skel/mpi.hpp"
#include "skel/skel.hpp"

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    CLI::App program{"Seconds of schedules on ranks of which some are slowed down."};
    std::uint64_t tasks = 8;
    std::vector<int> slow{2, 3};
    int repetitions = 5;
    std::vector<std::string> const schedules{"auto", "ring:order=doubling,copies=yes", "ring", "guided",
                                             "first-come"};
    program.add_option("--tasks", tasks, "tasks of 200 ms per run")->capture_default_str();
    program.add_option("--slow", slow, "the ranks that take four times as long")->capture_default_str();
    program.add_option("--repetitions", repetitions, "runs of each schedule, interleaved")
        ->capture_default_str();
    try {
      program.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
      if (ctx.is_root()) return program.exit(e);
      return e.get_exit_code();
    }
    ctx.set_threads(1);
    bool const slowed = std::ranges::find(slow, ctx.rank()) != slow.end();
    auto const length = std::chrono::milliseconds(slowed ? 800 : 200);
    std::vector<std::vector<double>> seconds(schedules.size());
    for (int k = 0; k < repetitions; ++k)
      for (std::size_t s = 0; s < schedules.size(); ++s) {
        std::vector<std::uint64_t> results(ctx.is_root() ? tasks : 0);
        auto const sleep = [&](std::uint64_t i) {
          std::this_thread::sleep_for(length);
          return i;
        };
        MPI_Barrier(skel::communicator_of(ctx));  // a rank may still run a copy of the last call's task
        auto const done = skel::farm(ctx, skel::indices(tasks), sleep, skel::any_schedule(schedules[s]),
                                     skel::into(results));
        seconds[s].push_back(done.report.seconds);
      }
    if (!ctx.is_root()) return 0;
    std::printf("| schedule | median, s | least | most |\n|---|---|---|---|\n");
    for (std::size_t s = 0; s < schedules.size(); ++s) {
      auto& all = seconds[s];
      std::ranges::sort(all);
      std::printf("| `%s` | %.2f | %.2f | %.2f |\n", schedules[s].c_str(), all[all.size() / 2], all.front(),
                  all.back());
    }
    return 0;
  });
}
