// A farm whose ranks kill themselves: losses SCHEDULE RESULTS WHEN SEED. The root prints the lost ranks and
// whether the bytes are right. losses_test.cpp starts it. RESULTS: streamed, concentrated, or on-root for
// tasks that travel, or audited for a rank that flips bits, which audits must find, or saved:STORE
// (saving.hpp). WHEN = abort, hang or hang-last (the last task): a task ends every rank that runs it, or does
// not end, and is left out. hang-root: the first root's tasks do not end. hang-copy: the last task ends on
// all ranks but 1, where it outlives the call.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "mpi/deaths.hpp"
#include "mpi/saving.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t tasks = 240;
constexpr int liar = 2;
constexpr std::uint64_t poison = 17;  // with WHEN = abort, this task aborts any rank that runs it

std::vector<std::uint64_t> work(std::uint64_t id) {
  std::vector<std::uint64_t> result(1 + id % 50);
  for (auto& x : result) x = (id += 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  return result;
}

// Returns whether `rank` dies inside its n-th task, which is task `id`.
bool dies_in_task(test::plan_of_deaths const& p, int rank, std::uint64_t n, std::uint64_t id) {
  if (rank == 0) return false;
  if (p.when == "first") return rank == p.victim() && n == 1;
  return p.when == "last" && id == tasks - 1;  // any rank that runs it, until only the root is left
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  auto const body = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[3], std::strtoull(argv[4], nullptr, 10), ctx.size(), 120ms,
                                 ctx.attempt()};
    skel::farm_options options;
    if (std::string(argv[2]) == "concentrated") options.results = skel::results::concentrated();
    if (std::string const saved = "saved:", how = argv[2]; how.starts_with(saved))
      options.checkpoint = test::saving_to(how.substr(saved.size()), argv[4]);
    bool const audited = std::string(argv[2]) == "audited";
    if (audited) options.audit = 0.5;
    if (p.when == "last") options.max_losses_per_task = 0;  // one task kills all of them
    bool const hangs = p.when == "hang" || p.when == "hang-last";
    std::uint64_t const bad = p.when == "hang-last" ? tasks - 1 : poison;
    bool const aborts = p.when == "abort" || hangs;
    if (hangs || p.when == "hang-root") options.task.time_limit_seconds = 2;
    bool const copied = p.when == "hang-copy";
    if (copied) {
      options.task.time_limit_seconds = 5;
      options.root_works = false;
    }
    if (aborts) {
      options.on_error = skel::on_error::collect{};
      options.root_works = false;  // or the root might be the one that dies
    }
    std::atomic<std::uint64_t> done_here = 0;
    auto const run = [&](bool dying) {
      std::vector<std::vector<std::uint64_t>> got;
      auto const task = [&](std::uint64_t id) {
        std::this_thread::sleep_for(hangs ? 15ms : 2ms);  // the limit ends while other tasks wait
        if (dying && dies_in_task(p, ctx.rank(), ++done_here, id)) test::die();
        bool const hangs_here =
            hangs ? id == bad : p.when == "hang-root" && ctx.attempt() == 1 && ctx.is_root();
        if (dying && hangs_here) std::this_thread::sleep_for(1h);
        if (dying && copied && id == tasks - 1) std::this_thread::sleep_for(ctx.rank() == 1 ? 3'600s : 3s);
        if (dying && aborts && id == bad) std::abort();
        auto result = work(id);
        if (audited && dying && ctx.rank() == liar && id % 3 == 0) result[0] ^= 64;
        return result;
      };
      auto const list = [] { return std::views::iota(std::uint64_t{0}, tasks); };
      skel::any_schedule const how(argv[1]);
      auto const report =
          std::string(argv[2]) == "on-root"
              ? skel::farm(ctx, skel::on_root(list), task, how, skel::into(got), options).report
              : skel::farm(ctx, skel::indices(tasks), task, how, skel::into(got), options).report;
      bool right = got.size() == tasks;
      for (std::uint64_t i = 0; right && i < tasks; ++i)
        right = dying && aborts && i == bad ? got[i].empty() : got[i] == work(i);
      auto const& failed = report.failed_tasks;
      if (ctx.is_root() && aborts)
        right = right && (dying ? failed.size() == 1 && failed[0].task == bad : failed.empty());
      if (ctx.is_root() && audited && dying)
        right = right && report.audit->at_fault.size() == 1 && report.audit->at_fault[0].rank == liar;
      if (ctx.is_root()) test::say_losses(right, report);
    };
    if (auto const life = p.lifetime(ctx.rank())) test::die_in(*life);
    run(true);
    run(false);  // the survivors continue
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
