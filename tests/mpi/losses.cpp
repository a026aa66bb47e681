// A farm whose ranks kill themselves as they are told: losses SCHEDULE RESULTS WHEN SEED. On the root it says
// who was lost and whether the bytes are right. losses_test.cpp starts it. RESULTS: streamed, concentrated,
// or on-root for tasks that travel.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t tasks = 240;

std::vector<std::uint64_t> work(std::uint64_t id) {
  std::vector<std::uint64_t> result(1 + id % 50);
  for (auto& x : result) x = (id += 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  return result;
}

[[noreturn]] void die() {
  std::raise(SIGKILL);
  std::abort();
}

// This rank dies some time from now, whatever it does then.
void die_in(std::chrono::microseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    die();
  }).detach();
}

struct plan {
  std::string when;
  std::uint64_t seed = 0;
  int ranks = 1;

  // How long after the start of the farm this rank lives; empty: it is not its turn.
  [[nodiscard]] std::optional<std::chrono::microseconds> lifetime(int rank) const {
    std::mt19937_64 dice(seed);
    auto const below = [&](std::uint64_t n) { return dice() % n; };
    int const first = 1 + static_cast<int>(below(static_cast<std::uint64_t>(ranks - 1)));
    int const second = 1 + first % (ranks - 1);
    std::chrono::microseconds const time(below(120'000));  // all tasks take about so long with four ranks
    if (rank == 0) return std::nullopt;
    if (when == "random" && rank == first) return time;
    if (when == "late" && rank == first) return 100ms + time / 4;
    if (when == "two" && (rank == first || rank == second)) return time;
    if (when == "all") return time + std::chrono::microseconds(rank * static_cast<int>(below(3)) * 20'000);
    return std::nullopt;
  }
  // Whether `rank` dies inside its n-th task, which is task `id`.
  [[nodiscard]] bool in_task(int rank, std::uint64_t n, std::uint64_t id) const {
    if (rank == 0) return when == "root" && n == 3;
    int const victim = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(ranks - 1));
    if (when == "first") return rank == victim && n == 1;
    return when == "last" && id == tasks - 1;  // whoever runs it, until only the root is left
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    plan const p{argv[3], std::strtoull(argv[4], nullptr, 10), ctx.size()};
    skel::farm_options options;
    if (std::string(argv[2]) == "concentrated") options.results = skel::concentrated();
    std::atomic<std::uint64_t> done_here = 0;
    auto const run = [&](bool dying) {
      std::vector<std::vector<std::uint64_t>> got;
      auto const task = [&](std::uint64_t id) {
        std::this_thread::sleep_for(2ms);
        if (dying && p.in_task(ctx.rank(), ++done_here, id)) die();
        return work(id);
      };
      auto const list = [] { return std::views::iota(std::uint64_t{0}, tasks); };
      skel::any_schedule const how(argv[1]);
      auto const report = std::string(argv[2]) == "on-root"
                              ? skel::farm(ctx, skel::on_root(list), task, how, skel::into(got), options)
                              : skel::farm(ctx, skel::indices(tasks), task, how, skel::into(got), options);
      bool right = got.size() == tasks;
      for (std::uint64_t i = 0; right && i < tasks; ++i) right = got[i] == work(i);
      if (!ctx.is_root()) return;
      std::printf("%s, lost", right ? "right" : "WRONG");
      for (int const rank : report.lost_ranks) std::printf(" %d", rank);
      std::printf(", again %llu\n", static_cast<unsigned long long>(report.tasks_handed_out_again));
      std::fflush(stdout);
    };
    if (auto const life = p.lifetime(ctx.rank())) die_in(*life);
    run(true);
    run(false);  // the survivors go on
  });
}
