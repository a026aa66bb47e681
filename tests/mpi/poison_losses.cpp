// A farm with a task that kills every rank that runs it: poison_losses SCHEDULE RESULTS WAY AFTERWARDS. WAY:
// abort, crash or kill. AFTERWARDS: escape; roots if the root runs tasks, this one first; or next for a
// second farm by the survivors. poison_losses_test.cpp starts it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "deaths.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t tasks = 120;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::string const how = argv[1], results = argv[2], way = argv[3], afterwards = argv[4];
  std::uint64_t const poison = afterwards == "roots" ? 0 : 37;
  return skel::run_main(
      argc, argv, skel::restartable([&](skel::context& ctx) {
        skel::farm_options options;
        options.root_works = afterwards == "roots";  // otherwise it would sometimes die first
        if (results == "concentrated") options.results = skel::results::concentrated();
        auto const run = [&](bool deadly) {
          std::vector<std::uint64_t> got;
          auto const task = [&](std::uint64_t id) {
            std::this_thread::sleep_for(1ms);
            if (deadly && id == poison && way == "abort") std::abort();
            if (deadly && id == poison && way == "crash") test::crash();
            if (deadly && id == poison) test::die();
            return id * id;
          };
          auto const list = [] { return std::views::iota(std::uint64_t{0}, tasks); };
          skel::any_schedule const schedule(how);
          auto const report =
              results == "on-root"
                  ? skel::farm(ctx, skel::on_root(list), task, schedule, skel::into(got), options).report
                  : skel::farm(ctx, skel::indices(tasks), task, schedule, skel::into(got), options).report;
          bool right = got.size() == tasks;
          for (std::uint64_t i = 0; right && i < tasks; ++i) right = got[i] == i * i;
          if (ctx.is_root()) test::say_losses(right, report);
        };
        if (afterwards != "next") return run(true);
        try {
          run(true);
        } catch (skel::task_error const& e) {
          std::printf("task %llu, rank %d\n", static_cast<unsigned long long>(e.task()), e.rank());
          std::fflush(stdout);
        }
        run(false);
      }));
}
