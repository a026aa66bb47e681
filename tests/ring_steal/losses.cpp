// Runs ring_steal twice with ranks that kill themselves: steal_losses WHEN [STORE] SEED. STORE: see
// saving.hpp. The root prints the lost ranks and whether the count is right, after each call; the second call
// starts without the lost ranks. Started by losses_test.cpp.
#include <atomic>
#include <chrono>
#include <vector>

#include "mpi/deaths.hpp"
#include "mpi/saving.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

struct node {
  int depth = 0;
};

// Three children per node, 30 microseconds per node: one second of work in total.
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
    if (dies_in_first) test::die();
    if (dies_in_last && n.depth == deepest && ++leaves_here_ == 2000) test::die();
    ++sum;
    for (int i = 0; i < 3 && n.depth < deepest; ++i) more({n.depth + 1});
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
  static inline std::atomic<int> leaves_here_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  auto const body = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[argc - 1], nullptr, 10), ctx.size(), 250ms,
                                 ctx.attempt()};
    auto const root = skel::on_root([] { return std::vector<node>{node{}}; });
    skel::ring_steal_options options;
    if (argc == 4) options.checkpoint = test::saving_to(argv[2], argv[3]);
    tree first;
    first.dies_in_first = p.when == "first" && ctx.rank() == p.victim();
    first.dies_in_last = p.when == "many" && ctx.rank() != 0;
    if (auto const time = p.lifetime(ctx.rank())) test::die_in(*time);
    for (auto const& job : {first, tree{}}) {
      auto const all = skel::ring_steal(ctx, root, job, skel::schedule::stealing{}, options);
      if (ctx.is_root()) test::say_losses(all.value == tree::nodes, all.report);
    }
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
