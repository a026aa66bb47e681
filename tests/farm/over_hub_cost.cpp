// Farms over several ranks in one process whose tasks have known costs: the most costly begin first, and
// nothing else changes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

#include "over_hub.hpp"
#include "skel/error.hpp"

using namespace farm_test;

namespace {

// Many tasks have the same cost, and those of cost 0 are among them.
double cost(skel::task_id i) { return static_cast<double>(i * 37 % 29); }
// One task costs as much as many others.
double giant(skel::task_id i) { return i == 5 ? 1000 : 1 + static_cast<double>(i % 3); }

std::vector<std::uint64_t> by_decreasing(double (*of)(skel::task_id), std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) { return of(a) > of(b); });
  return all;
}

// Tasks in the order in which each rank began them. All ranks are threads of this process.
struct begun_tasks {
  std::mutex lock;
  std::map<int, std::vector<std::uint64_t>> of;
  void add(int rank, std::uint64_t id) {
    std::lock_guard const guard(lock);
    of[rank].push_back(id);
  }
};

std::string letters(std::uint64_t i) { return std::string(i % 40, static_cast<char>('a' + i % 26)); }

}  // namespace

TEST_CASE("costs do not change results: every schedule, source and sink") {
  for (int const ranks : {1, 3})
    for (int const threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (auto const& how : schedules())
        for (std::uint64_t const n : {0U, 1U, 2U, 150U})
          for (bool const concentrated : {false, true}) {
            INFO(how.to_string() << ", " << ranks << " ranks, " << threads << " threads, " << n << " tasks");
            skel::farm_options options{.task = {.cost = n == 2 ? giant : cost}};
            if (concentrated) options.results = skel::results::concentrated();
            std::vector<std::uint64_t> into, in_order;
            std::map<std::uint64_t, std::string> texts;
            std::vector<int> ended(n);
            std::uint64_t total = 0;
            std::vector<std::string> list(n);
            for (std::uint64_t i = 0; i < n; ++i) list[i] = letters(i);
            bool const merges =
                !(how.policy().copies && how.policy().more == skel::schedule::more_from::ring);
            job.run_well([&](skel::context& ctx) {
              auto const numbers = skel::indices(n);
              skel::farm(ctx, numbers, work, how, skel::into(into), options);
              auto const write = [&](skel::task_id id, std::uint64_t r) {
                CHECK(id == in_order.size());
                in_order.push_back(r);
              };
              skel::farm(ctx, numbers, work, how, skel::ordered(write), options);
              skel::farm(
                  ctx, skel::replicated(list), [](std::string const& s) { return s + "!"; }, how,
                  [&](skel::task_id id, std::string&& s) { texts[id] = std::move(s); }, options);
              skel::farm(
                  ctx, numbers, [](std::uint64_t) {}, how, [&](skel::task_id id) { ++ended[id]; }, options);
              if (merges) skel::farm(ctx, numbers, work, how, skel::reduced(total, std::plus<>()), options);
            });
            CHECK(into == expected(n));
            CHECK(in_order == expected(n));
            CHECK(ended == std::vector<int>(n, 1));
            REQUIRE(texts.size() == n);
            for (std::uint64_t i = 0; i < n; ++i) CHECK(texts[i] == list[i] + "!");
            auto const all = expected(n);
            if (merges) CHECK(total == std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
          }
    }
}

TEST_CASE("there may be more ranks than tasks, and a root that only serves") {
  for (auto const& how : schedules())
    for (std::uint64_t const n : {1U, 4U}) {
      INFO(how.to_string() << ", " << n << " tasks");
      hub::job job(7);
      std::vector<std::uint64_t> got;
      job.run_well([&](skel::context& ctx) {
        skel::farm_options const options{.root_works = false, .task = {.cost = giant}};
        skel::farm(ctx, skel::indices(n), work, how, skel::into(got), options);
      });
      CHECK(got == expected(n));
    }
}

TEST_CASE("one rank begins its tasks in decreasing order of cost, equal ones in the order of the list") {
  for (auto const& how : schedules()) {
    INFO(how.to_string());
    hub::job job(1);
    std::vector<std::uint64_t> begun, got;
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        begun.push_back(i);
        return work(i);
      };
      skel::farm(ctx, skel::indices(100), f, how, skel::into(got), {.task = {.cost = cost}});
    });
    CHECK(begun == by_decreasing(cost, 100));
    CHECK(got == expected(100));
  }
}

TEST_CASE("every rank begins its most costly tasks first, and the most costly of all is one of them") {
  // Ranks that steal come to costly tasks of others later.
  for (char const* name : {"blocks", "interleaved", "first-come", "first-come:chunk=3", "guided", "hybrid"}) {
    INFO(name);
    hub::job job(3);
    begun_tasks begun;
    std::vector<std::uint64_t> got;
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        begun.add(ctx.rank(), i);
        return slow_work(i);
      };
      skel::farm(ctx, skel::indices(90), f, skel::any_schedule(name), skel::into(got),
                 {.task = {.cost = giant}});
    });
    bool giant_first = false;
    for (auto const& [rank, ran] : begun.of) {
      giant_first = giant_first || ran.front() == 5;
      CHECK(std::is_sorted(ran.begin(), ran.end(), [](auto a, auto b) { return giant(a) > giant(b); }));
    }
    CHECK(giant_first);
    CHECK(got == expected(90));
  }
}

TEST_CASE("no rank gets more than its share of the costs beforehand") {
  hub::job job(4);
  begun_tasks begun;
  std::vector<std::uint64_t> got;
  job.run_well([&](skel::context& ctx) {
    auto const f = [&](std::uint64_t i) {
      begun.add(ctx.rank(), i);
      return work(i);
    };
    skel::farm(ctx, skel::indices(200), f, skel::schedule::blocks{}, skel::into(got),
               {.task = {.cost = giant}});
  });
  REQUIRE(begun.of.size() == 4);
  for (auto const& [rank, ran] : begun.of) {
    double all = 0;
    for (auto const i : ran) all += giant(i);
    if (rank == 0)
      CHECK(ran == std::vector<std::uint64_t>{5});  // the others share the rest
    else
      CHECK(std::abs(all - 397.0 / 3) < 3);
  }
}

TEST_CASE("failed tasks have their numbers in the list, whatever happens to them") {
  auto const fails = [](std::uint64_t id) { return id % 10 == 3 || id == 0 || id == 119; };
  auto const f = [&](std::uint64_t id) {
    if (fails(id)) throw std::runtime_error("bad " + std::to_string(id));
    return work(id);
  };
  for (int const ranks : {1, 3}) {
    hub::job job(ranks, 2);
    for (auto const& how : schedules()) {
      INFO(ranks << " ranks, " << how.to_string());
      std::vector<std::uint64_t> in_order, right;
      for (std::uint64_t id = 0; id < 120; ++id)
        if (!fails(id)) right.push_back(work(id));
      job.run_well([&](skel::context& ctx) {
        skel::farm_options const options{.on_error = skel::on_error::collect{}, .task = {.cost = cost}};
        auto const write = [&](skel::task_id, std::uint64_t x) { in_order.push_back(x); };
        auto const r = skel::farm(ctx, skel::indices(120), f, how, skel::ordered(write), options).report;
        if (!ctx.is_root()) return;
        REQUIRE(r.failed_tasks.size() == 120 - right.size());
        CHECK(std::ranges::is_sorted(r.failed_tasks, {}, &skel::task_failure::task));
        for (auto const& t : r.failed_tasks) CHECK(t.text == "bad " + std::to_string(t.task));
      });
      CHECK(in_order == right);
      auto const text = job.all_throw<skel::task_error>([&](skel::context& ctx) {
        auto const one = [](std::uint64_t id) {
          if (id == 7) throw std::runtime_error("no luck");
          return work(id);
        };
        skel::farm(ctx, skel::indices(120), one, how, [](skel::task_id, std::uint64_t) {},
                   {.on_error = skel::on_error::retry{.times = 2}, .task = {.cost = cost}});
      });
      CHECK(text.starts_with("task 7 failed on rank "));
      CHECK(text.find("no luck") != std::string::npos);
    }
  }
}

TEST_CASE("a sink that throws is told of its task's number") {
  for (bool const ordered : {false, true}) {
    hub::job job(3, 2);
    auto const text = job.all_throw<skel::sink_error>([&](skel::context& ctx) {
      auto const sink = [](skel::task_id id, std::uint64_t) {
        if (id == 17) throw std::runtime_error("disk full");
      };
      if (ordered)
        skel::farm(ctx, skel::indices(80), work, skel::ordered(sink), {.task = {.cost = cost}});
      else
        skel::farm(ctx, skel::indices(80), work, sink, {.task = {.cost = cost}});
    });
    CHECK(text.find("task 17") != std::string::npos);
  }
}

TEST_CASE("with costs, losses do not change the results") {
  for (auto const& how : schedules()) {
    INFO(how.to_string());
    hub::job job(4, 2);
    std::vector<std::uint64_t> got;
    std::array<std::atomic<int>, 4> begun{};
    job.run([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        auto const rank = static_cast<std::size_t>(ctx.rank());
        if (rank > 1 && ++begun[rank] == 4) job.kill(ctx.rank());
        return slow_work(i);
      };
      skel::farm_options const options{.max_losses_per_task = 0, .task = {.cost = giant}};
      skel::farm(ctx, skel::indices(120), f, how, skel::into(got), options);
    });
    CHECK(job.error(0).empty());
    CHECK(got == expected(120));
  }
}

TEST_CASE("a task that ends its ranks is named by its number in the list") {
  for (bool const collects : {false, true}) {
    INFO((collects ? "collect" : "stop"));
    hub::job job(8);
    skel::report report;
    job.run([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        if (i == 11 && !ctx.is_root()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the root hears what runs here
          job.kill(ctx.rank());
        }
        return slow_work(i);
      };
      skel::farm_options options{.root_works = false, .task = {.cost = cost}};
      if (collects) options.on_error = skel::on_error::collect{};
      auto r = skel::farm(
                   ctx, skel::indices(60), f, skel::schedule::first_come{},
                   [](skel::task_id, std::uint64_t) {}, options)
                   .report;
      if (ctx.is_root()) report = std::move(r);
    });
    if (collects) {
      CHECK(job.error(0).empty());
      REQUIRE(report.failed_tasks.size() == 1);
      CHECK(report.failed_tasks[0].task == 11);
    } else {
      hub::check_thrown<skel::task_error>(job, 0);
      CHECK(job.error(0).starts_with("task 11 failed on rank "));
    }
  }
}

TEST_CASE("bad costs, and costs where no order is possible, are refused on every rank") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  auto const refusal = [&](auto const& call) {
    job.all_throw<skel::usage_error>(call);
    return job.error(2);
  };
  double const infinity = std::numeric_limits<double>::infinity();
  for (auto const& [value, text] : {std::pair{std::nan(""), "nan"}, {-1.0, "-1"}, {infinity, "inf"}}) {
    auto const with = [&, value = value](skel::context& ctx) {
      skel::farm(ctx, skel::indices(9), work, skel::into(got),
                 {.task = {.cost = [=](skel::task_id i) { return i == 4 ? value : 1; }}});
    };
    CHECK(refusal(with) ==
          std::string("farm: task 4 has the cost ") + text + ", expected a finite number of at least 0");
  }
  CHECK(refusal([&](skel::context& ctx) {
          skel::farm(ctx, skel::indices(9), work, skel::into(got),
                     {.task = {.cost = [](skel::task_id) { return std::numeric_limits<double>::max(); }}});
        }).find("the sum of all costs") != std::string::npos);
  CHECK(refusal([&](skel::context& ctx) {
          skel::farm(ctx, counting(9), work, skel::into(got), {.task = {.cost = cost}});
        }).find("on_root") != std::string::npos);
  for (bool const of_sink : {false, true})
    CHECK(refusal([&](skel::context& ctx) {
            skel::farm_options options{.task = {.cost = cost}};
            if (!of_sink) options.results.window = 5;
            auto const sink = [](skel::task_id, std::uint64_t) {};
            skel::farm(ctx, skel::indices(9), work, skel::ordered(sink, of_sink ? 5 : 0), options);
          }).find("a window of an ordered sink") != std::string::npos);
}

TEST_CASE("costs that differ between ranks are found, also if only one rank has some") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  for (bool const none : {false, true}) {
    auto const text = job.all_throw<skel::protocol_error>([&](skel::context& ctx) {
      skel::farm_options options{
          .task = {.cost = [&](skel::task_id i) { return ctx.rank() == 1 ? 49 - i : i; }}};
      if (none && ctx.rank() == 1) options.task.cost = nullptr;
      skel::farm(ctx, skel::indices(50), work, skel::into(got), options);
    });
    CHECK(text.find(none ? "cost none instead of given" : "other costs of tasks") != std::string::npos);
  }
}

TEST_CASE("teams of one size run the most costly tasks first") {
  auto const jointly = [](skel::context& team, std::uint64_t i) {
    std::uint64_t all = 0;
    skel::farm(
        team, skel::indices(4), [i](std::uint64_t k) { return work(i + k); },
        skel::reduced(all, std::plus<>()));
    return all;
  };
  std::vector<std::uint64_t> right(40, 0);
  for (std::uint64_t i = 0; i < right.size(); ++i)
    for (std::uint64_t k = 0; k < 4; ++k) right[i] += work(i + k);
  auto const mixed = [](skel::task_id i) { return i % 4 == 0 ? 2 : 1; };
  for (int const kind : {0, 1, 2}) {
    CAPTURE(kind);
    hub::job job(2);
    std::vector<std::uint64_t> got, in_order;
    begun_tasks begun;
    job.run_well([&](skel::context& ctx) {
      skel::farm_options options{.task = {.team_size = 2, .cost = cost}};
      if (kind == 1) options.task.team_size = skel::team_size(mixed);
      if (kind == 2) {  // the times say which are long
        options.task.cost = nullptr;
        options.task.team_size =
            skel::team_size::chosen([](skel::task_id i, int n) { return (1 + cost(i)) / n; });
      }
      auto const f = [&](skel::context& team, std::uint64_t i) {
        if (team.is_root()) begun.add(team.size(), i);
        return jointly(team, i);
      };
      skel::farm(ctx, skel::indices(40), f, skel::into(got), options);
      auto const write = [&](skel::task_id, std::uint64_t r) { in_order.push_back(r); };
      skel::farm(ctx, skel::indices(40), jointly, skel::ordered(write), options);
    });
    CHECK(got == right);
    CHECK(in_order == right);
    if (kind != 1) CHECK(begun.of[2] == by_decreasing(cost, 40));
    if (kind == 1) {
      auto const two = begun.of[2];
      CHECK(two.size() == 10);
      CHECK(std::is_sorted(two.begin(), two.end(), [](auto a, auto b) { return cost(a) > cost(b); }));
    }
  }
}
