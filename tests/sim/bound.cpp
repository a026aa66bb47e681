// Branch and bound on simulated clusters: how many tasks a shared bound leaves, and how long they take.
#include <algorithm>
#include <array>
#include <cstdio>

#include "catch.hpp"
#include "forked.hpp"
#include "skel/ring_steal.hpp"
#include "skel/sim/run.hpp"

namespace sim = skel::sim;

namespace {

struct item {
  int value, weight;
};
constexpr double task_seconds = 1e-3;

// The best value of a knapsack; weights and values are loosely correlated.
struct knapsack {
  struct task {
    int next = 0, value = 0, room = 0;
  };
  using result = int;
  using bound = skel::maximise<int>;
  static constexpr int items = 36;
  std::array<item, items> all{};

  knapsack() {
    for (int i = 0; i < items; ++i) {
      int const weight = 531 * i % 997 + 1000;
      all[static_cast<std::size_t>(i)] = {weight + 37 * i % 61, weight};
    }
    std::sort(all.begin(), all.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
  }
  [[nodiscard]] int best_possible(task const& t) const {
    int value = t.value, room = t.room;
    for (auto i = static_cast<std::size_t>(t.next); i < items; ++i) {
      if (all[i].weight > room) return value + all[i].value * room / all[i].weight;
      value += all[i].value;
      room -= all[i].weight;
    }
    return value;
  }
  void run(task const& t, skel::spawner<task, bound>& more, int& best) const {
    sim::spend(task_seconds);
    best = std::max(best, t.value);
    more.improve(t.value);
    if (t.next == items || more.prunes(best_possible(t))) return;
    auto const [value, weight] = all[static_cast<std::size_t>(t.next)];
    more({t.next + 1, t.value, t.room});
    if (weight <= t.room) more({t.next + 1, t.value + value, t.room - weight});
  }
  [[nodiscard]] int merge(int a, int b) const { return std::max(a, b); }
};

struct found {
  double best = 0, tasks = 0, seconds = 0;
};

found search(int ranks, int room) {
  auto const all = forked::run([&] {
    std::vector<double> numbers;
    auto const where = sim::platform::ready("cluster:ranks=" + std::to_string(ranks));
    auto const end = sim::run(where, [&](skel::context& ctx) {
      auto const open = [&] { return std::vector<knapsack::task>{{0, 0, room}}; };
      auto const [best, report] = skel::ring_steal(ctx, skel::on_root(open), knapsack{});
      if (ctx.is_root()) numbers = {double(best), static_cast<double>(report.tasks), report.seconds};
    });
    if (end.exit_code != 0 || !end.failure.empty()) throw std::runtime_error(end.failure);
    return numbers;
  });
  return {all.at(0), all.at(1), all.at(2)};
}

}  // namespace

TEST_CASE("64 simulated ranks that share a bound need at most 1.5 times the ideal time") {
  for (int room : {28000, 32000}) {
    auto const one = search(1, room);
    for (int ranks : {3, 64}) {
      auto const all = search(ranks, room);
      double const of_ideal = all.seconds * ranks / one.seconds;
      std::printf("| %.0f | %d | %.0f | %.2f |\n", one.tasks, ranks, all.tasks,
                  of_ideal);  // docs/measurements/bound.md
      CHECK(all.best == one.best);
      CHECK(all.tasks <= 1.5 * one.tasks);
      CHECK(of_ideal <= 1.5);
    }
  }
}
