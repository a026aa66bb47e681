// Branch and bound: the best value of a knapsack. A task is a partial choice; idle ranks steal tasks
// along a ring. All ranks prune with the best value that any of them has found.
//     mpiexec -n 4 knapsack
#include <algorithm>
#include <array>
#include <cstdio>
#include <skel/skel.hpp>
#include <vector>

struct item {
  int value, weight;
};
constexpr int items = 24, capacity = 300;

struct knapsack {
  struct task {
    int next, value, room;  // items before `next` are decided
  };
  using result = int;
  using bound = skel::maximise<int>;
  std::array<item, items> all{};
  knapsack() {
    for (int i = 0; i < items; ++i) all[i] = {37 * i % 41 + 20, 29 * i % 31 + 15};
    std::sort(all.begin(), all.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
  }
  // The value that fractions of the remaining items would give.
  int best_possible(task const& t) const {
    int value = t.value, room = t.room;
    for (int i = t.next; i < items; ++i) {
      if (all[i].weight > room) return value + all[i].value * room / all[i].weight;
      value += all[i].value;
      room -= all[i].weight;
    }
    return value;
  }
  void run(task const& t, skel::spawner<task, bound>& more, int& best) const {
    best = std::max(best, t.value);
    more.improve(t.value);
    if (t.next == items || more.prunes(best_possible(t))) return;  // prunes what is strictly worse
    auto const [value, weight] = all[t.next];
    more({t.next + 1, t.value, t.room});
    if (weight <= t.room) more({t.next + 1, t.value + value, t.room - weight});  // runs first
  }
  int merge(int a, int b) const { return std::max(a, b); }
};

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const open = [] { return std::vector{knapsack::task{0, 0, capacity}}; };
    auto const [best, report] = skel::ring_steal(ctx, skel::on_root(open), knapsack{});
    if (!ctx.is_root()) return;
    std::printf("best value: %d\n", best);
    std::fprintf(stderr, "%llu tasks\n", static_cast<unsigned long long>(report.tasks));
  });
}
