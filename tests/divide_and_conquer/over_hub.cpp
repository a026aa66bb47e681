// Whole divide_and_conquer calls over several ranks in one process. Failures must not change the solution.
#include <atomic>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "catch.hpp"
#include "divide/jobs.hpp"
#include "skel/divide_and_conquer.hpp"
#include "transport/hub_transport.hpp"

namespace {

using namespace divide;
using hub::check_thrown;

numbers random_numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937_64 dice(seed);
  numbers all(n);
  for (auto& x : all) x = static_cast<std::int64_t>(dice() % 1000) - 500;
  return all;
}

// Each leaf sleeps for `microseconds` and increments `solved`.
struct slow_sum {
  using problem = std::pair<int, int>;
  using solution = std::string;  // the text of the combination tree
  int microseconds = 0;
  int least = 1;
  std::atomic<int>* solved = nullptr;
  int bad = -1;

  bool trivial(problem const& p) const { return p.second - p.first <= least; }
  solution conquer(problem const& p) const {
    if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    if (solved != nullptr) ++*solved;
    if (p.first <= bad && bad < p.second) throw std::runtime_error("no luck");
    return std::to_string(p.first);
  }
  std::array<problem, 2> divide(problem const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution const& a, solution const& b) const { return "(" + a + " " + b + ")"; }
};

std::string shape(slow_sum const& job, std::pair<int, int> p) {
  if (job.trivial(p)) return std::to_string(p.first);
  int const middle = (p.first + p.second) / 2;
  return "(" + shape(job, {p.first, middle}) + " " + shape(job, {middle, p.second}) + ")";
}

// Sums numbers with threads of its own, and records which threads call it.
struct threaded_sum {
  using problem = std::vector<int>;
  using solution = long;
  std::mutex* guard = nullptr;
  std::set<std::thread::id>* callers = nullptr;

  void called() const {
    std::lock_guard const lock(*guard);
    callers->insert(std::this_thread::get_id());
  }
  bool trivial(problem const& p) const { return p.size() <= 1; }
  solution conquer(problem const& p) const { return std::accumulate(p.begin(), p.end(), 0L); }
  std::array<problem, 2> divide(problem const& p) const {
    called();
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  solution solve(problem const& p, unsigned threads) const {
    called();
    return threads == 3 ? std::accumulate(p.begin(), p.end(), 0L) : -1;
  }
  solution combine(solution a, solution b) const {
    called();
    return a + b;
  }
};

// Divides further until a problem is small, which any compute thread of a rank then solves.
struct small_sum : threaded_sum {
  bool small(problem const& p) const { return p.size() <= 10; }
  solution solve(problem const& p, unsigned threads) const {
    return threads == 1 ? std::accumulate(p.begin(), p.end(), 0L) : -1;
  }
};

auto const on_root_numbers = [](numbers const& all) { return skel::on_root([&all] { return all; }); };

}  // namespace

TEST_CASE("scalar product of own parts, matrix product of replicated matrices") {
  for (int ranks : {1, 2, 3, 5, 8}) {
    hub::job job(ranks, 2);
    std::vector<double> product;
    matrix_product::matrix a{17, {}}, b{17, {}};
    for (int i = 0; i < 17 * 17; ++i) {
      a.values.push_back(i % 7 - 3.5);
      b.values.push_back(i % 5 + 0.25);
    }
    double sum = 0;
    job.run([&](skel::context& ctx) {
      scalar_product::problem own;
      for (int i = 0; i < 5000; ++i)
        if (i % ranks == ctx.rank()) {
          own.x.push_back(i);
          own.y.push_back(2);
        }
      auto const s = skel::divide_and_conquer(ctx, skel::own_part{own}, scalar_product{},
                                              skel::division::embarrassing{});
      auto const m = skel::divide_and_conquer(ctx, skel::replicated_problem{matrix_product::rows{0, 17}},
                                              matrix_product{a, b}, skel::division::embarrassing{});
      if (!ctx.is_root()) return;
      sum = *s.value;
      product = *m.value;
    });
    INFO(ranks << " ranks: " << job.error(0));
    CHECK(sum == 5000.0 * 4999.0);
    REQUIRE(product.size() == 17 * 17);
    double middle = 0;
    for (std::size_t k = 0; k < 17; ++k) middle += a.values[8 * 17 + k] * b.values[k * 17 + 9];
    CHECK(product[8 * 17 + 9] == middle);
  }
}

TEST_CASE("the number of ranks and threads does not change the combination tree") {
  for (int ranks : {1, 2, 3, 4, 6, 9})
    for (int threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (int n : {1, 2, 3, 11, 64})
        for (int least : {1, 5, 70}) {
          slow_sum const sum{0, least};
          std::atomic<int> right{0};
          job.run([&](skel::context& ctx) {
            std::pair<int, int> const whole{0, n};
            for (auto const& kind : {skel::any_division("hypercube"), skel::any_division("tree")}) {
              auto const a = skel::divide_and_conquer(ctx, skel::on_root([&] { return whole; }), sum, kind);
              auto const b = skel::divide_and_conquer(ctx, skel::replicated_problem{whole}, sum, kind);
              right += !a.value.here() || *a.value == shape(sum, whole) ? 1 : 0;
              right += !b.value.here() || *b.value == shape(sum, whole) ? 1 : 0;
              right += a.value.here() == b.value.here() ? 1 : 0;
            }
          });
          INFO(ranks << " ranks, " << threads << " threads, n " << n << ", least " << least << job.error(0));
          CHECK(right == 6 * ranks);
        }
    }
}

TEST_CASE("a job whose solve has threads of its own is called by one thread per rank") {
  for (int const ranks : {1, 3}) {
    hub::job job(ranks, 3);
    std::mutex guard;
    std::vector<std::set<std::thread::id>> callers(static_cast<std::size_t>(ranks));
    std::vector<int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    job.run_well([&](skel::context& ctx) {
      threaded_sum const sum{&guard, &callers[static_cast<std::size_t>(ctx.rank())]};
      auto const r =
          skel::divide_and_conquer(ctx, skel::replicated_problem(numbers), sum, skel::division::hypercube{});
      if (*r.value != 499500) throw std::runtime_error("wrong sum");
    });
    for (auto const& mine : callers) CHECK(mine.size() == 1);
  }
}

TEST_CASE("a job that knows small problems solves each with one thread") {
  hub::job job(2, 3);
  std::mutex guard;
  std::set<std::thread::id> callers;
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  job.run_well([&](skel::context& ctx) {
    small_sum const sum{{&guard, &callers}};
    auto const r =
        skel::divide_and_conquer(ctx, skel::replicated_problem(numbers), sum, skel::division::hypercube{});
    if (*r.value != 499500) throw std::runtime_error("solve was given more than one thread");
  });
}

TEST_CASE("the report has the time of each phase on each level") {
  hub::job job(4, 1);
  auto const all = random_numbers(4000);
  auto const report = job.on_root([&](skel::context& ctx) {
    return skel::divide_and_conquer(ctx, on_root_numbers(all), merge_sort{}, skel::division::hypercube{})
        .report;
  });
  CHECK(report.skeleton == "divide_and_conquer");
  CHECK(report.schedule == "hypercube");
  CHECK(report.results == "everywhere");
  CHECK(report.per_rank.size() == 4);
  CHECK(report.tasks == 4);
  std::string text;
  for (auto const& p : report.phases) {
    text += p.phase + std::to_string(p.level) + " ";
    CHECK(p.seconds >= 0);
    if (p.phase == "exchange") CHECK(p.bytes > 4000 * 8 / 4);
    if (p.phase == "sequential") CHECK(p.sizes == std::vector<std::pair<std::string, double>>{{"N", 1000}});
  }
  CHECK(text == "divide0 divide1 sequential2 exchange0 exchange1 combine0 combine1 ");
}

TEST_CASE("a function that throws fails the call on every rank, and the next call works") {
  for (int threads : {1, 2})
    for (int bad : {0, 5, 15}) {
      hub::job job(4, threads);
      auto const text = job.all_throw<skel::task_error>([&](skel::context& ctx) {
        skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 16}},
                                 slow_sum{10, 1, nullptr, bad}, skel::division::hypercube{});
      });
      CHECK(text.find("no luck") != std::string::npos);
      std::atomic<int> right{0};
      job.run([&](skel::context& ctx) {
        auto const s = skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 16}}, slow_sum{},
                                                skel::division::hypercube{});
        right += *s.value == shape(slow_sum{}, {0, 16}) ? 1 : 0;
      });
      CHECK(right == 4);
    }
}

TEST_CASE("a problem that never becomes trivial ends the call with an error") {
  struct endless : slow_sum {
    bool trivial(problem const& p) const { return p.second == p.first; }
    std::array<problem, 2> divide(problem const& p) const { return {p, problem{0, 0}}; }
  };
  for (int ranks : {1, 3}) {
    hub::job job(ranks, 1);
    auto const text = job.all_throw<skel::task_error>([&](skel::context& ctx) {
      skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 16}}, endless{},
                               skel::division::hypercube{});
    });
    CHECK(text.find("not trivial after 10000 nested divisions") != std::string::npos);
  }
}

TEST_CASE("a throwing source, different calls and conflicting options fail the call") {
  hub::job job(3, 1);
  job.all_throw<skel::source_error>([&](skel::context& ctx) {
    auto const open = []() -> numbers { throw std::runtime_error("no numbers"); };
    skel::divide_and_conquer(ctx, skel::on_root(open), merge_sort{}, skel::division::hypercube{});
  });
  hub::job other(3, 1);
  other.run([&](skel::context& ctx) {
    skel::any_division const kind =
        ctx.rank() == 1 ? skel::any_division("tree") : skel::division::hypercube{};
    skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 1000}}, slow_sum{20}, kind);
  });
  for (int r = 0; r < 3; ++r)
    CHECK(other.error(r).find("rank 1 made another skeleton call") != std::string::npos);
  hub::job wrong(2, 1);
  wrong.run([&](skel::context& ctx) {
    skel::divide_and_conquer(ctx, skel::on_root([] {
                               return std::pair{0, 9};
                             }),
                             slow_sum{}, skel::division::embarrassing{});
  });
  check_thrown<skel::usage_error>(wrong, 0);
  wrong.run([&](skel::context& ctx) {
    skel::divide_and_conquer(ctx, skel::own_part{std::pair{0, 9}}, slow_sum{}, skel::division::tree{});
  });
  check_thrown<skel::usage_error>(wrong, 1);
  wrong.run([&](skel::context& ctx) {
    skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 9}}, slow_sum{},
                             skel::division::hypercube{}, {.pieces_per_thread = static_cast<unsigned>(-3)});
  });
  check_thrown<skel::usage_error>(wrong, 1);
  CHECK(wrong.error(1) == "hypercube: pieces_per_thread must be at least 0, found -3");
  CHECK_THROWS_WITH(skel::any_division("cube"),
                    "unknown kind of divide-and-conquer \"cube\"; known: hypercube, tree, embarrassing, "
                    "distributed");
}

TEST_CASE("a call ends early at its time limit") {
  hub::job job(3, 2);
  std::atomic<int> stopped{0};
  job.run_well([&](skel::context& ctx) {
    skel::divide_and_conquer_options options;
    options.time_limit_seconds = 0.03;
    auto const s = skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 5000}}, slow_sum{200},
                                            skel::division::hypercube{}, options);
    stopped += s.report.stopped_early && !s.value.here() ? 1 : 0;
  });
  CHECK(stopped == 3);
}

TEST_CASE("the loss of any ranks but the root does not change the solution") {
  for (int turn = 0; turn < 24; ++turn) {
    int const ranks = 3 + turn % 5;
    hub::job job(ranks, 1 + turn % 2);
    std::atomic<int> solved{0};
    slow_sum const sum{100, 1, &solved};
    std::pair<int, int> const whole{0, 64};
    std::atomic<bool> over{false};
    std::thread killer([&] {
      for (int r = ranks - 1; r > 0; --r) {
        auto const after = solved + 1 + turn;
        while (solved < after && !over) std::this_thread::yield();
        if (over) return;
        job.kill(r);
        if (turn % 3 == 0) return;
      }
    });
    std::string got;
    // Ranks killed one after another at the same work would make the work look deadly.
    skel::divide_and_conquer_options options;
    if (turn % 3 != 0) options.max_losses_per_task = 0;
    skel::any_division const kind = turn % 2 == 0 ? skel::any_division("hypercube") : skel::division::tree{};
    job.run([&](skel::context& ctx) {
      auto const s =
          turn % 4 < 2
              ? skel::divide_and_conquer(ctx, skel::on_root([&] { return whole; }), sum, kind, options)
              : skel::divide_and_conquer(ctx, skel::replicated_problem{whole}, sum, kind, options);
      if (!ctx.is_root()) return;
      over = true;
      got = *s.value;
    });
    killer.join();
    INFO("turn " << turn << ": " << job.error(0));
    CHECK(got == shape(sum, whole));
  }
}

TEST_CASE("every rank throws when the only copy of a part is lost with its rank") {
  for (bool own : {true, false}) {
    hub::job job(4, 1);
    std::atomic<int> solved{0};
    slow_sum const sum{3000, 1, &solved};
    std::thread killer([&] {
      while (solved < 2) std::this_thread::yield();
      job.kill(3);
    });
    job.run([&](skel::context& ctx) {
      std::pair<int, int> const part{0, 16};
      if (own)
        skel::divide_and_conquer(ctx, skel::own_part{part}, sum, skel::division::embarrassing{});
      else
        skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 64}}, sum,
                                 skel::division::distributed{});
    });
    killer.join();
    for (int r = 0; r < 3; ++r) {
      check_thrown<skel::lost_rank_error>(job, r);
      CHECK(job.error(r).find("lost rank 3") != std::string::npos);
    }
    std::atomic<int> right{0};  // the survivors can make another call
    job.run([&](skel::context& ctx) {
      if (ctx.rank() == 3) return;
      auto const s = skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 16}}, slow_sum{},
                                              skel::division::hypercube{});
      right += *s.value == shape(slow_sum{}, {0, 16}) ? 1 : 0;
    });
    CHECK(right == 3);
  }
}

namespace {

// Counts how often a rank polls for messages while it solves its only leaf.
struct watched_leaf {
  using problem = std::pair<int, int>;
  using solution = int;
  hub::job* ranks = nullptr;
  std::atomic<int>* too_often = nullptr;

  bool trivial(problem const& p) const { return p.second - p.first == 1; }
  solution conquer(problem const& p) const {
    using namespace std::chrono;
    auto const begin = steady_clock::now();
    auto const before = ranks->looks(p.first);
    std::this_thread::sleep_for(milliseconds(200));
    auto const looks =
        ranks->looks(p.first) - before;  // a helper that does not back off polls 100 times or more
    auto const milliseconds_gone = duration_cast<milliseconds>(steady_clock::now() - begin).count();
    if (looks > static_cast<std::uint64_t>(milliseconds_gone) / 20 + 40) ++*too_often;
    return 1;
  }
  std::array<problem, 2> divide(problem const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution a, solution b) const { return a + b; }
};

}  // namespace

TEST_CASE("a rank that solves its part rarely polls for messages") {
  hub::job job(2);
  std::atomic<int> too_often{0}, right{0};
  job.run([&](skel::context& ctx) {
    auto const sum = skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 2}},
                                              watched_leaf{&job, &too_often}, skel::division::hypercube{});
    right += *sum.value == 2 ? 1 : 0;
  });
  CHECK(right == 2);
  CHECK(too_often == 0);
}
