// Measures how soon an idle rank reacts: the root gets a task every 20 ms, and the task records its
// age when it starts on another rank. All ranks must be on one host, with a common steady clock.
// Also prints the processor time of idle ranks.
//   mpiexec -n 2 build/release/bin/skel-bench-idle-latency [TASKS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "skel/skel.hpp"

namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (ctx.size() < 2) throw skel::usage_error("needs at least 2 ranks");
    int const tasks = argc > 1 ? std::atoi(argv[1]) : 200;
    auto const open = [&] {
      return std::views::iota(0, tasks) | std::views::transform([](int) {
               std::this_thread::sleep_for(std::chrono::milliseconds(20));
               return now_ns();
             });
    };
    std::vector<double> ms;
    double const before = bench::processor_seconds();
    auto const report =
        skel::farm(
            ctx, skel::on_root(open), [](std::int64_t born) { return now_ns() - born; },
            skel::schedule::first_come{},
            [&](skel::task_id, std::int64_t age) { ms.push_back(static_cast<double>(age) * 1e-6); },
            {.results = {.window = 1}, .root_works = false})
            .report;  // one at a time; the other ranks sleep
    if (!ctx.is_root()) {
      std::printf("rank %d: %.1f %% of a core\n", ctx.rank(),
                  100 * (bench::processor_seconds() - before) / report.seconds);
      return;
    }
    std::sort(ms.begin(), ms.end());
    auto const at = [&](double q) {
      return ms[static_cast<std::size_t>(q * static_cast<double>(ms.size() - 1))];
    };
    std::printf(
        "age of a task when an idle rank starts it, ms: median %.3f, 90 %% %.3f, 99 %% %.3f, most %.3f\n",
        at(0.5), at(0.9), at(0.99), ms.back());
  });
}
