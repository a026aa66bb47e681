// Branch and bound over several ranks in one process: the bound spreads, and the result does not depend on
// how.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "over_hub.hpp"

using namespace steal_test;

namespace {

// All best choices of items: their value, their number, and the first of them in the order of the bits.
struct choices {
  int value = 0;
  std::uint32_t number = 0, first = 0;
  friend bool operator==(choices const&, choices const&) = default;
};

}  // namespace

template <>
inline constexpr bool skel::exact_merge<choices> = true;

namespace {

struct item {
  int value, weight;
};

// A choice has decided on the items before `next`.
struct choice {
  int next = 0, value = 0, room = 0;
  std::uint32_t taken = 0;
};

struct knapsack {
  using task = choice;
  using result = choices;
  static constexpr int items = 32;
  std::array<item, items> all{};
  int microseconds = 0;
  std::atomic<int>* started = nullptr;

  knapsack(item (*draw)(int), int us, std::atomic<int>* counter = nullptr)
      : microseconds(us), started(counter) {
    for (int i = 0; i < items; ++i) all[static_cast<std::size_t>(i)] = draw(i);
    std::sort(all.begin(), all.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
  }
  [[nodiscard]] int best_possible(choice const& c) const {
    int value = c.value, room = c.room;
    for (auto i = static_cast<std::size_t>(c.next); i < items; ++i) {
      if (all[i].weight > room) return value + all[i].value * room / all[i].weight;
      value += all[i].value;
      room -= all[i].weight;
    }
    return value;
  }
  // Calls `prunes(value)` for the rest of the choice.
  template <class Spawner, class Prunes>
  void branch(choice const& c, Spawner& more, choices& best, Prunes const& prunes) const {
    if (started != nullptr) ++*started;
    if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    if (c.next == items) best = merge(best, {c.value, 1, c.taken});
    if (c.next == items || prunes(best_possible(c))) return;
    auto const [value, weight] = all[static_cast<std::size_t>(c.next)];
    more({c.next + 1, c.value, c.room, c.taken});
    if (weight <= c.room)
      more({c.next + 1, c.value + value, c.room - weight, c.taken | std::uint32_t{1} << c.next});
  }
  [[nodiscard]] choices merge(choices a, choices b) const {
    if (a.number == 0 || b.number == 0) return a.number == 0 ? b : a;
    if (a.value != b.value) return a.value > b.value ? a : b;
    return {a.value, a.number + b.number, std::min(a.first, b.first)};
  }
};

struct shares_its_bound : knapsack {
  using bound = skel::maximise<int>;
  using knapsack::knapsack;
  void run(choice const& c, skel::spawner<choice, bound>& more, choices& best) const {
    if (c.next == items) more.improve(c.value);
    branch(c, more, best, [&](int value) { return more.prunes(value); });
  }
};

// Prunes with the best value that the thread has found itself.
struct keeps_its_bound : knapsack {
  using knapsack::knapsack;
  void run(choice const& c, skel::spawner<choice>& more, choices& best) const {
    branch(c, more, best, [&](int value) { return best.number > 0 && value < best.value; });
  }
};

item loosely_correlated(int i) {
  return {531 * i % 997 + 200 + 29 * i % 31 * 50, 29 * i % 31 * 31 + 750 + 7 * i % 37};
}
item with_many_ties(int i) { return {29 * i % 31 + 25, 29 * i % 31 + 15}; }

auto empty_knapsack(int room) {
  return skel::on_root([room] { return std::vector<choice>{{0, 0, room, 0}}; });
}

template <class Job>
skel::result<choices> search(hub::job& job, Job const& work, int room,
                             skel::ring_steal_options const& options = {}) {
  return job.on_root(
      [&](skel::context& ctx) { return skel::ring_steal(ctx, empty_knapsack(room), work, options); });
}

}  // namespace

TEST_CASE("three ranks that share a bound run at most twice the tasks of one") {
  int const room = 12000, us = 20;
  hub::job alone(1), three(3);
  shares_its_bound const shares(loosely_correlated, us);
  auto const one = search(alone, shares, room);
  auto const all = search(three, shares, room);
  // On a busy machine two of the ranks may run too late to do needless work.
  auto each = search(three, keeps_its_bound(loosely_correlated, us), room);
  for (int more = 4; more > 0 && each.report.tasks <= 2 * one.report.tasks; --more)
    each = search(three, keeps_its_bound(loosely_correlated, us), room);
  std::printf("%llu tasks on one rank; on three %llu with a shared bound, %llu without\n",
              static_cast<unsigned long long>(one.report.tasks),
              static_cast<unsigned long long>(all.report.tasks),
              static_cast<unsigned long long>(each.report.tasks));
  CHECK(all.value == one.value);
  CHECK(each.value == one.value);
  for (auto const& row : all.report.per_rank) CHECK(row.tasks > 0);
  CHECK(all.report.tasks <= 2 * one.report.tasks);
  CHECK(each.report.tasks > 2 * one.report.tasks);
}

TEST_CASE("a search that takes less than a quantum is not shared before its bound is good") {
  hub::job alone(1), three(3);
  shares_its_bound const job(loosely_correlated, 0);
  auto const one = search(alone, job, 3000);
  auto const all = search(three, job, 3000);
  INFO(one.report.tasks << " tasks on one rank, " << all.report.tasks << " on three");
  CHECK(one.report.tasks >= 30);
  CHECK(all.value == one.value);
  CHECK(all.report.tasks <= 2 * one.report.tasks);
}

TEST_CASE("the best solutions are the same on any ranks and threads, however many are equally good") {
  hub::job alone(1);
  auto const expected = search(alone, keeps_its_bound(with_many_ties, 0), 300).value;
  CHECK(expected.number > 1);
  for (int ranks : {1, 2, 3, 5})
    for (int threads : {1, 2})
      for (int us : {0, 5}) {
        hub::job job(ranks, threads);
        INFO(ranks << " ranks, " << threads << " threads");
        CHECK(search(job, shares_its_bound(with_many_ties, us), 300).value == expected);
        CHECK(job.error(0).empty());
      }
}

TEST_CASE("the best solutions are the same after the loss of any ranks but the root") {
  hub::job alone(1);
  auto const expected = search(alone, shares_its_bound(with_many_ties, 0), 300).value;
  for (int turn = 0; turn < 8; ++turn) {
    hub::job job(4, 1 + turn % 2);
    std::atomic<int> started{0};
    std::atomic<bool> over{false};
    std::thread killer([&] {
      for (int r : {2, 3, 1}) {
        auto const after = started + 10 + 30 * turn;
        while (started < after && !over) std::this_thread::yield();
        if (over) return;
        job.kill(r);
      }
    });
    auto const got =
        search(job, shares_its_bound(with_many_ties, 20, &started), 300, {.max_losses_per_task = 0});
    over = true;
    killer.join();
    INFO("turn " << turn);
    CHECK(job.error(0).empty());
    CHECK(got.value == expected);
  }
}

namespace {

// Task 0 is the only best solution. The first rank other than the root that finds it is lost with its
// result after the root has heard of the bound.
struct lost_optimum {
  using task = int;
  using result = std::uint64_t;  // number of best solutions
  using bound = skel::maximise<int>;
  static constexpr int best = 100;
  struct progress {
    std::atomic<int> finder{-1};
    std::atomic<bool> root_knows{false}, over{false};
  };
  progress& seen;
  bool prunes_equals = false;  // a mistake of the user's

  void run(int t, skel::spawner<int, bound>& more, std::uint64_t& found,
           skel::worker_info const& where) const {
    if (where.rank == 0 && more.bound() == best) seen.root_knows = true;
    if (t != 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      // The root works until it hears of the bound, for about 10 seconds at most.
      if (where.rank == 0 && !seen.root_knows && t < 20000) more(t + 1);
      return;
    }
    if (more.prunes(best) || (prunes_equals && more.bound() == best)) return;
    ++found;
    more.improve(best);
    int none = -1;
    if (!seen.finder.compare_exchange_strong(none, where.rank) || where.rank == 0) return;
    while (!seen.over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

// The number of best solutions; empty if the root itself was the first to find the solution.
std::optional<std::uint64_t> lose_the_optimum(bool prunes_equals) {
  hub::job job(3);
  lost_optimum::progress seen;
  std::atomic<bool> ended{false};
  std::thread killer([&] {
    while (!seen.root_knows && !ended) std::this_thread::yield();
    if (seen.finder > 0) job.kill(seen.finder);
    seen.over = true;
  });
  std::uint64_t found = 0;
  job.run([&](skel::context& ctx) {
    auto const open = [] {
      std::vector<int> tasks(100);
      for (int i = 0; i < 100; ++i) tasks[static_cast<std::size_t>(i)] = i;
      return tasks;
    };
    auto const all = skel::ring_steal(ctx, skel::on_root(open), lost_optimum{seen, prunes_equals});
    if (!ctx.is_root()) return;
    found = all.value;
    ended = true;
  });
  killer.join();
  CHECK(job.error(0).empty());
  CHECK(seen.root_knows);
  if (seen.finder == 0) return {};
  return found;
}

}  // namespace

TEST_CASE("the rank that found the bound is lost, and the task that runs again is not pruned by it") {
  std::optional<std::uint64_t> found;
  for (int turn = 0; turn < 5 && !found; ++turn) found = lose_the_optimum(false);
  CHECK(found == 1U);
}

// Why the rule is: prune only what is strictly worse.
TEST_CASE("a job that prunes what equals the bound loses its solution with the rank that found it") {
  std::optional<std::uint64_t> found;
  for (int turn = 0; turn < 5 && !found; ++turn) found = lose_the_optimum(true);
  CHECK(found == 0U);
}

namespace {

template <class Bound, class T>
void check_order(std::vector<T> const& from_worst_to_best) {
  skel::detail::best_known<Bound> best;
  CHECK(best.get() == Bound::worst);
  for (T const x : from_worst_to_best) {
    best.improve(x);
    CHECK(best.get() == x);
    for (T const worse : from_worst_to_best) {
      if (!Bound::better(x, worse)) break;
      best.improve(worse);
      CHECK(best.get() == x);
    }
  }
}

template <class T>
void check_both(std::vector<T> rising) {
  check_order<skel::maximise<T>>(rising);
  std::reverse(rising.begin(), rising.end());
  check_order<skel::minimise<T>>(rising);
}

template <class T>
std::vector<T> integers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all{limits::min(), T(limits::min() + 1)};
  if (std::is_signed_v<T>) all.push_back(T(-1));
  if (std::is_signed_v<T>) all.push_back(0);
  all.insert(all.end(), {2, T(limits::max() - 1), limits::max()});
  return all;
}

}  // namespace

TEST_CASE("bounds of all types keep the order of their values") {
  check_both(integers<signed char>());
  check_both(integers<std::uint16_t>());
  check_both(integers<int>());
  check_both(integers<std::int64_t>());
  check_both(integers<std::uint64_t>());
  auto const infinity = std::numeric_limits<double>::infinity();
  check_both<double>({-infinity, -1e300, -1.5, -1e-310, 0, 1e-310, 0.1, 1e300, infinity});
  check_both<float>({-1e30F, -1.5F, 0, 1e-40F, 0.1F, 1e30F});
}

TEST_CASE("a NaN neither improves a bound nor is pruned by it") {
  std::vector<int> tasks;
  skel::detail::best_known<skel::minimise<double>> best;
  skel::spawner<int, skel::minimise<double>> more(tasks, best);
  more.improve(std::nan(""));
  CHECK(more.bound() == std::numeric_limits<double>::infinity());
  more.improve(2.5);
  more.improve(-std::nan(""));
  CHECK(more.bound() == 2.5);
  CHECK(!more.prunes(std::nan("")));
  CHECK(!more.prunes(2.5));
  CHECK(more.prunes(std::nextafter(2.5, 3.0)));
  more(1);
  more.emplace(2);
  CHECK(tasks == std::vector{1, 2});
}
