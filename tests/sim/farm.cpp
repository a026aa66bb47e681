// Whole farms on simulated clusters: the same results as anywhere, and times that can be computed by hand.
#include "skel/farm.hpp"

#include <algorithm>
#include <cstdlib>

#include "catch.hpp"
#include "forked.hpp"
#include "skel/error.hpp"
#include "skel/sim/run.hpp"

namespace sim = skel::sim;

namespace {

bool long_campaign() { return std::getenv("SKEL_LONG") != nullptr; }

// Uneven, the same everywhere.
double cost(std::uint64_t i) { return 0.5 + static_cast<double>((i * 2654435761U) % 1000) / 500; }
double total_cost(std::uint64_t n) {
  double sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += cost(i);
  return sum;
}
std::uint64_t work(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15U; }

struct found {
  double exit_code, seconds, tasks, again, lost, right;
  std::vector<double> tasks_of;
};

// A farm of `n` tasks, in a child; `more` may kill ranks from the sink.
found farm(sim::platform const& p, std::string const& schedule, std::uint64_t n, double scale = 1,
           std::function<void(std::uint64_t)> const& at_sink = {}) {
  auto const numbers = forked::run(
      [&] {
        std::vector<std::uint64_t> got;
        std::vector<double> out(6);
        std::uint64_t sunk = 0;
        sim::run_options options;
        options.suspect_after_seconds = 0.5;
        auto const end = sim::run(
            p,
            [&](skel::context& ctx) {
              auto const r = skel::farm(
                                 ctx, skel::indices(n),
                                 [&](std::uint64_t i) {
                                   sim::spend(scale * cost(i));
                                   return work(i);
                                 },
                                 skel::any_schedule(schedule),
                                 [&](skel::task_id id, std::uint64_t&& value) {
                                   skel::into(got)(id, std::move(value));
                                   if (at_sink) at_sink(++sunk);
                                 })
                                 .report;
              if (!ctx.is_root()) return;
              out = {0,
                     r.seconds,
                     static_cast<double>(r.tasks),
                     static_cast<double>(r.tasks_handed_out_again),
                     static_cast<double>(r.lost_ranks.size()),
                     0};
              for (auto const& rank : r.per_rank) out.push_back(static_cast<double>(rank.tasks));
            },
            options);
        out[0] = end.exit_code;
        bool right = got.size() == n;
        for (std::uint64_t i = 0; i < got.size(); ++i) right = right && got[i] == work(i);
        out[5] = right ? 1 : 0;
        return out;
      },
      long_campaign() ? 1200 : 300);
  REQUIRE(numbers.size() >= 6);
  return {numbers[0],
          numbers[1],
          numbers[2],
          numbers[3],
          numbers[4],
          numbers[5],
          {numbers.begin() + 6, numbers.end()}};
}

char const* const schedules[] = {"blocks",       "interleaved", "first-come", "guided",
                                 "guided:min=4", "hybrid",      "ring",       "ring:take=half"};

}  // namespace

TEST_CASE("every schedule gives the same bytes on 14 unequal machines, in the same time each time") {
  auto const p = sim::platform::ready("lee-1997-14");
  double const ideal = p.ideal_seconds(total_cost(512));
  for (auto const* schedule : schedules) {
    INFO(schedule);
    auto const a = farm(p, schedule, 512);
    CHECK(a.exit_code == 0);
    CHECK(a.right == 1);
    CHECK(a.tasks == 512);
    CHECK(a.seconds > ideal);
    auto const b = farm(p, schedule, 512);
    CHECK(a.seconds == b.seconds);  // to the last bit
    CHECK(a.tasks_of == b.tasks_of);
  }
}

TEST_CASE("times are those computed by hand") {
  auto const p = sim::platform::ready("lee-1997-14");
  std::uint64_t const n = 512;

  // Interleaved: the time of the machine that is slowest with its share.
  std::vector<double> load(14);
  for (std::uint64_t i = 0; i < n; ++i) load[i % 14] += cost(i);
  double slowest = 0;
  for (std::size_t r = 0; r < 14; ++r) slowest = std::max(slowest, load[r] / p.machines[r].power);
  auto const dealt = farm(p, "interleaved", n);
  CHECK(dealt.seconds > slowest);
  CHECK(dealt.seconds < slowest + 0.1);
  for (std::size_t r = 0; r < 14; ++r) CHECK(dealt.tasks_of[r] == (r < n % 14 ? 37 : 36));

  // First come, first served, asking when the last task is done: the first idle rank gets the next.
  std::vector<double> free_at(14);
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const first = std::min_element(free_at.begin(), free_at.end());
    *first += cost(i) / p.machines[static_cast<std::size_t>(first - free_at.begin())].power;
  }
  double const greedy = *std::max_element(free_at.begin(), free_at.end());
  auto const asked = farm(p, "first-come:threshold=0", n);
  // A message is 1 ms: where two ranks ask at nearly the same time, a slower one may be first and end one
  // task later.
  double longest = 0, slowest_power = p.machines[0].power;
  for (std::uint64_t i = 0; i < n; ++i) longest = std::max(longest, cost(i));
  for (auto const& m : p.machines) slowest_power = std::min(slowest_power, m.power);
  CHECK(asked.seconds > 0.95 * greedy);
  CHECK(asked.seconds < greedy + longest / slowest_power);
  CHECK(asked.seconds < 1.1 * p.ideal_seconds(total_cost(n)));
}

namespace {

// Seconds of 120 tasks of one second on four machines.
double windowed(std::string const& schedule, std::uint64_t window, bool ordered) {
  sim::platform p;
  p.machines = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  p.wires.bandwidth_bytes_per_second = 1e9;
  return forked::run([&] {
           double seconds = 0;
           sim::run(p, [&](skel::context& ctx) {
             std::uint64_t sunk = 0;
             auto const sink = [&](skel::task_id, std::uint64_t) { ++sunk; };
             auto const task = [](std::uint64_t i) {
               sim::spend(1);
               return i;
             };
             skel::any_schedule const how(schedule);
             auto const r =
                 ordered
                     ? skel::farm(ctx, skel::indices(120), task, how, skel::ordered(sink, window)).report
                     : skel::farm(ctx, skel::indices(120), task, how, sink, {.results = {.window = window}})
                           .report;
             if (ctx.is_root() && sunk == 120) seconds = r.seconds;
           });
           return std::vector{seconds};
         })
      .front();
}

}  // namespace

TEST_CASE("a window with a place per thread keeps all of them busy, a smaller one as many as it has places") {
  for (char const* const schedule : {"auto", "first-come", "first-come:chunk=3", "guided"})
    for (bool const ordered : {true, false})
      for (std::uint64_t const window : {3, 4, 5, 7, 8, 9, 20}) {
        INFO(schedule << (ordered ? ", ordered" : "") << ", window " << window);
        double const ideal = 120.0 / static_cast<double>(std::min<std::uint64_t>(window, 4));
        double const seconds = windowed(schedule, window, ordered);
        CHECK(seconds > 0.99 * ideal);
        CHECK(seconds < ideal / 0.9);
      }
}

TEST_CASE("load that changes slows a machine down") {
  sim::platform p;
  p.machines = {{"a", 1}, {"b", 1, {{10, 0.5}}}};
  p.wires.bandwidth_bytes_per_second = 1e9;
  double first_half = 0;
  double second_half = 0;
  for (std::uint64_t i = 0; i < 40; ++i) (i < 20 ? first_half : second_half) += cost(i);
  auto const blocks = farm(p, "blocks", 40);
  CHECK(blocks.seconds == Approx(std::max(first_half, 10 + (second_half - 10) / 0.5)).epsilon(1e-4));
}

TEST_CASE("256 ranks, 16 of them die, and all results are right") {
  auto p = sim::platform::ready("uneven:ranks=256,seed=1");
  double const ideal = p.ideal_seconds(0.03 * total_cost(4096));
  for (int i = 0; i < 16; ++i) p.failures.push_back({1 + i * 16, ideal * (i + 1) / 20});
  for (auto const* schedule : {"first-come", "guided", "interleaved", "ring"}) {
    INFO(schedule);
    auto const a = farm(p, schedule, 4096, 0.03);
    CHECK(a.exit_code == 0);
    CHECK(a.right == 1);
    CHECK(a.lost == 16);
    CHECK(a.again > 0);
    CHECK(a.tasks_of.size() == 240);
  }
}

TEST_CASE("ranks die at chosen moments") {
  auto const p = sim::platform::ready("lee-1997-loss-9");
  for (std::uint64_t const moment : {1U, 50U, 99U})
    for (auto const* schedule : schedules) {
      INFO(schedule << " after " << moment);
      auto const a = farm(p, schedule, 100, 1, [&](std::uint64_t sunk) {
        if (sunk != moment) return;
        sim::kill(7);
        sim::kill(8);
      });
      CHECK(a.exit_code == 0);
      CHECK(a.right == 1);
    }
  auto const alone = farm(p, "guided", 100, 1, [](std::uint64_t sunk) {
    for (int r = 1; sunk == 5 && r < 9; ++r) sim::kill(r);
  });
  CHECK(alone.exit_code == 0);
  CHECK(alone.right == 1);
  CHECK(alone.lost == 8);
}

TEST_CASE("the root's death ends the simulation with exit code 1") {
  auto const numbers = forked::run([] {
    auto p = sim::platform::ready("lee-1997-14");
    p.failures = {{0, 5}};
    auto const end = sim::run(p, [](skel::context& ctx) {
      skel::farm(
          ctx, skel::indices(100), [](std::uint64_t) { sim::spend(10); }, skel::schedule::guided{},
          [](skel::task_id) {});
    });
    return std::vector<double>{static_cast<double>(end.exit_code), end.failure.empty() ? 0.0 : 1.0,
                               end.seconds};
  });
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[0] == 1);
  CHECK(numbers[1] == 1);
  CHECK(numbers[2] < 60);
}

// Ranks that are inside of a handler while others throw: fibers share a thread.
TEST_CASE("failed tasks, and farms called from a handler") {
  auto const numbers = forked::run([] {
    double caught = 0;
    double sum = 0;
    auto const end = sim::run(sim::platform::ready("lee-1997-14"), [&](skel::context& ctx) {
      for (int round = 0; round < 3; ++round) try {
          skel::farm(
              ctx, skel::indices(100),
              [](std::uint64_t i) {
                sim::spend(0.01);
                if (i % 40 == 30) throw std::runtime_error("no luck");
                return i;
              },
              skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
        } catch (skel::task_error const& e) {
          sim::spend(0.001 * ctx.rank());
          skel::farm(
              ctx, skel::indices(100),
              [](std::uint64_t i) {
                try {
                  throw i;
                } catch (std::uint64_t n) {
                  sim::spend(0.01);
                  return n;
                }
              },
              skel::schedule::guided{},
              [&](skel::task_id, std::uint64_t i) { sum += static_cast<double>(i); });
          if (std::string(e.what()).find("no luck") != std::string::npos && std::uncaught_exceptions() == 0)
            ++caught;
        }
    });
    return std::vector<double>{caught, sum, static_cast<double>(end.exit_code)};
  });
  CHECK(numbers == std::vector<double>{3 * 14, 3 * 4950, 0});
}

TEST_CASE("calls inside of calls, other calls, and other input are refused on every rank") {
  auto const numbers = forked::run([] {
    std::vector<double> thrown(4);
    sim::run(sim::platform::ready("lee-1997-14"), [&](skel::context& ctx) {
      auto const refused = [&](double& count, std::string const& with, auto const& call) {
        try {
          call();
        } catch (skel::error const& e) {
          if (std::string(e.what()).find(with) != std::string::npos) ++count;
        }
      };
      auto const farm_of = [&](std::uint64_t n, auto const& in_task) {
        skel::farm(
            ctx, skel::indices(n),
            [&](std::uint64_t i) {
              sim::spend(0.01);
              in_task();
              return i;
            },
            skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
      };
      refused(thrown[0], "made a skeleton call inside a task",
              [&] { farm_of(100, [&] { farm_of(10, [] {}); }); });
      refused(thrown[1], "rank 5 made another skeleton call than the root: tasks 11 instead of 10",
              [&] { farm_of(ctx.rank() == 5 ? 11 : 10, [] {}); });
      refused(thrown[2], "seed of rank 7 differs from rank 0's",
              [&] { ctx.require_same("seed", ctx.rank() < 7 ? "1" : "2"); });
      ctx.require_same("seed", "1");
      farm_of(100, [] {});
      ++thrown[3];
    });
    return thrown;
  });
  CHECK(numbers == std::vector<double>{14, 14, 14, 14});
}

TEST_CASE("a sink that takes time, and what is refused") {
  CHECK_THROWS_AS(sim::spend(1), skel::usage_error);
  CHECK_THROWS_AS(sim::now(), skel::usage_error);
  auto const numbers = forked::run([] {
    double refused = 0;
    double seconds = 0;
    auto const p = sim::platform::ready("lee-1997-14");
    sim::run(p, [&](skel::context& ctx) {
      try {
        ctx.set_threads(2);
      } catch (skel::usage_error const&) {
        ++refused;
      }
      auto const r = skel::farm(
                         ctx, skel::indices(100), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
                         [](skel::task_id, std::uint64_t) { sim::spend(0.5); })
                         .report;
      if (ctx.is_root()) seconds = r.seconds;
    });
    try {
      sim::run(p, [](skel::context&) {});
    } catch (skel::usage_error const&) {
      ++refused;
    }
    return std::vector<double>{refused, seconds};
  });
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0] == 15);
  CHECK(numbers[1] == Approx(50).epsilon(0.01));
}

TEST_CASE("machines of one name are one host") {
  auto const numbers = forked::run([] {
    std::vector<double> found;
    auto p = sim::platform::ready("uneven:ranks=5,seed=1");
    for (std::size_t r = 0; r < 5; ++r) p.machines[r].name = r % 2 == 0 ? "even" : "odd";
    sim::run(p, [&](skel::context& ctx) {
      if (ctx.rank() < 3) return;
      found.push_back(ctx.local_rank());
      found.push_back(ctx.local_size());
    });
    return found;
  });
  CHECK((numbers == std::vector<double>{1, 2, 2, 3} || numbers == std::vector<double>{2, 3, 1, 2}));
}

TEST_CASE("a thousand ranks") {
  if (!long_campaign()) return;
  auto p = sim::platform::ready("cluster-1024");
  for (int i = 0; i < 64; ++i) p.failures.push_back({1 + i * 16, 0.1 * i});
  for (auto const* schedule : {"first-come", "guided", "interleaved", "ring"}) {
    INFO(schedule);
    auto const a = farm(p, schedule, 65536, 0.1);
    CHECK(a.right == 1);
    CHECK(a.lost == 64);
  }
}
