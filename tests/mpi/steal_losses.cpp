// ring_steal whose ranks kill themselves as they are told: steal_losses WHEN SEED. On the root it says who
// was lost and whether the count is right, twice: the second call begins without them. steal_losses_test.cpp
// starts it.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

[[noreturn]] void die() {
  std::raise(SIGKILL);
  std::abort();
}

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

  // How long after the start of the call this rank lives; empty: it is not its turn.
  [[nodiscard]] std::optional<std::chrono::microseconds> lifetime(int rank) const {
    std::mt19937_64 dice(seed);
    auto const below = [&](std::uint64_t n) { return dice() % n; };
    int const first = 1 + static_cast<int>(below(static_cast<std::uint64_t>(ranks - 1)));
    int const second = 1 + first % (ranks - 1);
    std::chrono::microseconds const time(below(250'000));
    if (rank == 0) return when == "root" ? std::optional(100ms) : std::nullopt;
    if (when == "random" && rank == first) return time;
    if (when == "two" && (rank == first || rank == second)) return time;
    if (when == "all") return time + std::chrono::microseconds(rank * static_cast<int>(below(3)) * 30'000);
    return std::nullopt;
  }
};

struct node {
  int depth = 0;
};

// Three children per node, 30 microseconds each: a second of work.
struct tree {
  using task = node;
  using result = std::uint64_t;
  static constexpr int deepest = 9;
  static constexpr std::uint64_t nodes = 29524;
  bool dies_in_first = false;
  bool dies_in_last = false;

  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    auto const end = std::chrono::steady_clock::now() + 30us;
    while (std::chrono::steady_clock::now() < end) {
    }
    if (dies_in_first) die();
    if (dies_in_last && n.depth == deepest && ++leaves_here_ == 2000) die();
    ++sum;
    for (int i = 0; i < 3 && n.depth < deepest; ++i) more({n.depth + 1});
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
  static inline std::atomic<int> leaves_here_ = 0;
};

void say(skel::context const& ctx, skel::stolen<std::uint64_t> const& all) {
  if (!ctx.is_root()) return;
  std::string lost;
  for (int const r : all.report.lost_ranks) lost += " " + std::to_string(r);
  std::printf("%s, lost%s, again %llu\n", all.result == tree::nodes ? "right" : "WRONG", lost.c_str(),
              static_cast<unsigned long long>(all.report.tasks_handed_out_again));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    plan const p{argv[1], std::strtoull(argv[2], nullptr, 10), ctx.size()};
    int const victim = 1 + static_cast<int>(p.seed % static_cast<std::uint64_t>(ctx.size() - 1));
    auto const root = skel::on_root([] { return std::vector<node>{node{}}; });
    tree first;
    first.dies_in_first = p.when == "first" && ctx.rank() == victim;
    first.dies_in_last = p.when == "many" && ctx.rank() != 0;
    if (auto const time = p.lifetime(ctx.rank())) die_in(*time);
    say(ctx, skel::ring_steal(ctx, root, first));
    say(ctx, skel::ring_steal(ctx, root, tree{}));
  });
}
