// Farms whose tasks depend on results, over several ranks in one process.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "disks/store_of_three.hpp"
#include "over_hub.hpp"
#include "steered_chain.hpp"

using steered_test::chain;
using steered_test::driven;
using steered_test::result_of;

namespace {

constexpr char const* schedules[] = {"auto",   "first-come", "first-come:chunk=3,threshold=2",
                                     "guided", "ring",       "ring:take=one,order=doubling"};

// Takes from 50 to 350 microseconds.
std::uint64_t spread_work(std::uint64_t task) {
  std::this_thread::sleep_for(std::chrono::microseconds(50 + task % 300));
  return result_of(task);
}

void check_same(chain const& got, chain const& right) {
  CHECK(got.tasks == right.tasks);
  CHECK(got.log == right.log);
  CHECK(got.hash == right.hash);
  CHECK(got.cancelled == right.cancelled);
}

}  // namespace

TEST_CASE("a reproducible steered farm makes the same calls on any ranks, threads and schedules") {
  for (std::uint64_t const window : {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{16}}) {
    auto const right = driven({.limit = 60, .cancels = true}, window);
    REQUIRE(right.told + right.cancelled.size() == 60);
    REQUIRE(right.cancelled.empty() == (window == 1));
    for (int ranks = 1; ranks <= 8; ++ranks)
      for (auto const* name : schedules) {
        CAPTURE(window, ranks, name);
        hub::job job(ranks, 1 + ranks % 2);
        chain state{.limit = 60, .cancels = true};
        std::vector<std::uint64_t> sunk;
        skel::report report;
        job.run_well([&](skel::context& ctx) {
          chain elsewhere;
          auto& mine = ctx.is_root() ? state : elsewhere;
          auto const sink = [&](skel::task_id id, std::uint64_t x) {
            sunk.push_back(id);
            sunk.push_back(x);
          };
          auto r = skel::farm(ctx, skel::steered(mine, skel::reproducible{window}), spread_work,
                              skel::any_schedule(name), sink)
                       .report;
          if (ctx.is_root()) report = std::move(r);
          CHECK((ctx.is_root() || mine.log.empty()));
        });
        check_same(state, right);
        CHECK(report.tasks == right.told);
        CHECK(sunk.size() == 2 * right.told);
        for (std::size_t i = 2; i < sunk.size(); i += 2) CHECK(sunk[i - 2] < sunk[i]);
      }
  }
}

TEST_CASE("without an order a steered farm asks only for idle threads") {
  for (int const ranks : {1, 2, 5})
    for (int const threads : {1, 3})
      for (auto const* name : schedules)
        for (bool const serves : {false, true}) {
          CAPTURE(ranks, threads, name, serves);
          hub::job job(ranks, threads);
          chain state{.limit = 150, .cancels = true};
          skel::report report;
          job.run_well([&](skel::context& ctx) {
            chain elsewhere;
            auto r = skel::farm(ctx, skel::steered(ctx.is_root() ? state : elsewhere), spread_work,
                                skel::any_schedule(name), skel::discard, {.root_works = !serves})
                         .report;
            if (ctx.is_root()) report = std::move(r);
          });
          CHECK(state.tasks.size() == 150);
          CHECK(state.open.empty());
          CHECK(state.told + state.cancelled.size() == 150);
          CHECK(report.tasks == state.told);
          auto const all = static_cast<std::uint64_t>(ranks * threads);
          if (std::string_view(name).find("chunk") == std::string_view::npos) CHECK(state.most_open <= all);
          CHECK(state.most_wanted <= all);
        }
}

TEST_CASE("losses and false suspicions do not change the calls of a reproducible steered farm") {
  auto const right = driven({.limit = 120, .cancels = true}, 12);
  for (auto const* name : schedules)
    for (bool const serves : {false, true}) {
      CAPTURE(name, serves);
      hub::job job(4, 2);
      chain state{.limit = 120, .cancels = true};
      std::atomic<int> started{0};
      std::atomic<bool> one_dead{false};
      std::thread killer([&] {
        while (started < 20) std::this_thread::yield();
        job.suspect(1);
        job.kill(2);
        one_dead = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        job.heartbeat(1);
        job.kill(3);
      });
      job.run([&](skel::context& ctx) {
        chain elsewhere;
        auto const f = [&](std::uint64_t task) {
          if (++started > 20)
            while (!one_dead) std::this_thread::yield();
          return spread_work(task);
        };
        skel::farm(ctx, skel::steered(ctx.is_root() ? state : elsewhere, skel::reproducible{12}), f,
                   skel::any_schedule(name), skel::discard,
                   {.root_works = !serves, .max_losses_per_task = 0});
      });
      killer.join();
      CHECK(job.error(0).empty());
      CHECK(job.error(2).find("lost the root") != std::string::npos);
      check_same(state, right);
    }
}

TEST_CASE("tasks of a steered farm run again after failures, and teams run them") {
  auto const right = driven({.limit = 60, .cancels = true}, 8);
  for (int const size : {0, 1, 2, 3}) {  // 0: no teams
    CAPTURE(size);
    hub::job job(5, 2);
    chain state{.limit = 60, .cancels = true};
    std::mutex lock;
    std::set<std::uint64_t> tried;
    job.run_well([&](skel::context& ctx) {
      chain elsewhere;
      auto const f = [&](std::uint64_t task) {
        {
          std::lock_guard const guard(lock);
          if (task % 3 == 0 && tried.insert(task).second) throw std::runtime_error("once");
        }
        return spread_work(task);
      };
      auto const of_team = [&](skel::context& team, std::uint64_t task) {
        return team.is_root() ? f(task) : std::uint64_t{0};
      };
      skel::steered source(ctx.is_root() ? state : elsewhere, skel::reproducible{8});
      skel::farm_options options{.on_error = skel::on_error::retry{.times = 3}};
      if (size == 0) {
        skel::farm(ctx, source, f, skel::discard, options);
      } else {
        options.task.team_size = size;
        skel::farm(ctx, source, of_team, skel::discard, options);
      }
    });
    check_same(state, right);
  }
}

namespace {

// Hears of failures, too.
struct listener {
  std::uint64_t limit = 0, asked = 0;
  std::map<std::uint64_t, std::string> heard{};
  std::vector<std::uint64_t> order{};
  std::optional<std::vector<std::uint64_t>> ask(std::uint64_t n) {
    if (asked == limit) return std::nullopt;
    std::vector<std::uint64_t> tasks;
    while (tasks.size() < n && asked < limit) tasks.push_back(asked++);
    return tasks;
  }
  void tell(std::uint64_t id, std::uint64_t task, skel::outcome<std::uint64_t> const& o) {
    CHECK(id == task);
    order.push_back(id);
    CHECK(heard.emplace(id, o ? std::to_string(*o) : o.error().text).second);
  }
};

}  // namespace

TEST_CASE("the state of a steered farm may hear of failed tasks") {
  for (int const ranks : {1, 3})
    for (bool const in_order : {false, true}) {
      CAPTURE(ranks, in_order);
      hub::job job(ranks, 2);
      listener state{.limit = 50};
      skel::report report;
      job.run_well([&](skel::context& ctx) {
        listener elsewhere;
        auto const f = [](std::uint64_t task) {
          if (task % 5 == 4) throw std::runtime_error("no " + std::to_string(task));
          return spread_work(task);
        };
        auto& mine = ctx.is_root() ? state : elsewhere;
        auto const source = in_order ? skel::steered(mine, skel::reproducible{6}) : skel::steered(mine);
        auto r = skel::farm(ctx, source, f, skel::discard, {.on_error = skel::on_error::collect{}}).report;
        if (ctx.is_root()) report = std::move(r);
      });
      REQUIRE(state.heard.size() == 50);
      for (std::uint64_t i = 0; i < 50; ++i)
        CHECK(state.heard[i] == (i % 5 == 4 ? "no " + std::to_string(i) : std::to_string(result_of(i))));
      if (in_order) CHECK(std::is_sorted(state.order.begin(), state.order.end()));
      CHECK(report.failed_tasks.size() == 10);
      CHECK(report.tasks == 40);
    }
}

namespace {

struct store : test::store_of_three {
  [[nodiscard]] skel::farm_options options(bool resume) const {
    skel::farm_options o;
    o.checkpoint = store_of_three::options(resume, "chain");
    return o;
  }
};

chain run_chain(chain state, std::uint64_t window, int ranks, skel::farm_options const& options,
                std::string* error = nullptr, skel::report* report = nullptr) {
  hub::job job(ranks, 2);
  job.run([&](skel::context& ctx) {
    chain elsewhere;
    auto& mine = ctx.is_root() ? state : elsewhere;
    auto const source = window > 0 ? skel::steered(mine, skel::reproducible{window}) : skel::steered(mine);
    auto r = skel::farm(ctx, source, spread_work, skel::discard, options).report;
    if (ctx.is_root() && report != nullptr) *report = std::move(r);
  });
  if (error != nullptr)
    *error = job.error(0);
  else
    CHECK(job.error(0).empty());
  return state;
}

}  // namespace

TEST_CASE("a steered farm that resumes makes the calls of the earlier run again") {
  for (std::uint64_t const window : {std::uint64_t{0}, std::uint64_t{6}})
    for (std::uint64_t const stop : {std::uint64_t{1}, std::uint64_t{30}, std::uint64_t{59}}) {
      CAPTURE(window, stop);
      store const where;
      // A quarter of what is told cancels a task, by chance: 80 of 100 tasks are told.
      chain const all{.limit = 100, .cancels = true};
      auto first = all;
      first.stop_after = stop;
      first = run_chain(first, window, 3, where.options(false));
      REQUIRE(first.told == stop);
      skel::report report;
      auto const second = run_chain(all, window, 2, where.options(true), nullptr, &report);
      CHECK(report.checkpoint->restored_tasks >= stop);
      // The calls up to the last result that the first run was told.
      auto last = first.log.size();
      REQUIRE(second.log.size() > last);
      CHECK(std::equal(first.log.begin(), first.log.end(), second.log.begin()));
      CHECK(second.told + second.cancelled.size() == 100);
      CHECK(second.open.empty());
      if (window > 0) check_same(second, driven(all, window));
    }
}

TEST_CASE("a steered farm whose state asks for other tasks cannot resume") {
  for (std::uint64_t const window : {std::uint64_t{0}, std::uint64_t{6}}) {
    CAPTURE(window);
    store const where;
    run_chain({.limit = 80, .stop_after = 30}, window, 3, where.options(false));
    chain other{.limit = 80};
    other.hash = 2;
    std::string error;
    run_chain(other, window, 2, where.options(true), &error);
    CHECK(error.find("ask() returns other tasks than in the earlier run") != std::string::npos);
  }
}

TEST_CASE("a steered farm ends early, and errors of its state have a name") {
  hub::job job(3, 2);
  struct silent {  // asks for nothing, though nothing runs
    std::optional<std::vector<int>> ask(std::uint64_t) { return std::vector<int>{}; }
    void tell(skel::task_id, int, int) {}
  };
  struct greedy : silent {
    std::optional<std::vector<int>> ask(std::uint64_t n) { return std::vector<int>(n + 1); }
  };
  struct throwing : silent {
    std::optional<std::vector<int>> ask(std::uint64_t) { throw std::runtime_error("no model"); }
  };
  struct careless : silent {
    std::optional<std::vector<int>> ask(std::uint64_t) { return std::vector<int>(1); }
    void tell(skel::task_id, int, int, skel::steering& run) { run.cancel(1000); }
  };
  auto const same = [](int i) { return i; };
  auto const fails_with = [&]<class Error, class State>(State state, Error const*, std::string const& text) {
    for (bool const in_order : {false, true}) {
      std::atomic<int> wrong{0};
      job.run([&](skel::context& ctx) {
        auto mine = state;
        auto const source = in_order ? skel::steered(mine, skel::reproducible{4}) : skel::steered(mine);
        try {
          skel::farm(ctx, source, same, skel::discard);
          ++wrong;
        } catch (Error const& e) {
          if (std::string(e.what()).find(text) == std::string::npos) ++wrong;
        }
      });
      CAPTURE(text, in_order, job.error(0));
      CHECK(wrong == 0);
    }
  };
  skel::source_error const* const of_source = nullptr;
  fails_with(silent{}, of_source, "ask() returned no tasks, but none is open");
  fails_with(greedy{}, of_source, "tasks");
  fails_with(throwing{}, of_source, "no model");
  skel::sink_error const* const of_sink = nullptr;
  fails_with(careless{}, of_sink, "task 1000 was cancelled, but ask() has returned");
}

TEST_CASE("what does not fit a steered source is refused") {
  hub::job job(3, 1);
  auto const refused = [&](skel::any_schedule const& how, skel::farm_options const& options,
                           std::string const& text) {
    CAPTURE(text);
    job.all_throw<skel::usage_error>([&](skel::context& ctx) {
      chain state{.limit = 3};
      skel::farm(ctx, skel::steered(state), result_of, how, skel::discard, options);
    });
    for (int r = 0; r < 3; ++r) CHECK(job.error(r).find(text) != std::string::npos);
  };
  for (auto const* name : {"blocks", "interleaved", "hybrid"})
    refused(skel::any_schedule(name), {}, " deals tasks beforehand, but a steered source is a stream");
  refused(skel::any_schedule("ring:copies=yes"), {}, "but those of a steered source travel");
  skel::any_schedule const how("auto");
  refused(how, {.results = skel::results::concentrated()}, "a steered source needs them as they come");
  refused(how, {.audit = 0.5}, "audit waits for a second result");
  refused(how, {.task = {.cost = [](skel::task_id) { return 1.0; }}}, "cost needs tasks that are known");
  store const where;
  auto options = where.options(false);
  options.on_error = skel::on_error::collect{};
  refused(how, options, "use retry, or no checkpoint");
  options = where.options(false);
  options.task.needs = skel::task_needs{.memory = 1};
  refused(how, options, "use no needs, or no checkpoint");
}

TEST_CASE("a steered farm resumes although padding bytes of its tasks differ") {
  struct padded {
    std::uint8_t small;
    std::uint64_t large;
  };
  struct state {
    int noise = 0, asked = 0, told = 0, stop_after = 0;
    std::optional<std::vector<padded>> ask(std::uint64_t /*n*/) {
      if (asked == 12) return std::nullopt;
      std::vector<padded> one(1);
      std::memset(one.data(), noise, sizeof(padded));
      one[0].small = static_cast<std::uint8_t>(asked);
      one[0].large = static_cast<std::uint64_t>(asked++);
      return one;
    }
    skel::results::flow tell(skel::task_id, padded const&, std::uint64_t) {
      return ++told == stop_after ? skel::results::flow::stop : skel::results::flow::go_on;
    }
  };
  store const where;
  for (bool const resume : {false, true}) {
    hub::job job(2, 1);
    state mine{.noise = resume ? 0x55 : 0xaa, .stop_after = resume ? 0 : 6};
    job.run([&](skel::context& ctx) {
      state elsewhere;
      skel::farm(
          ctx, skel::steered(ctx.is_root() ? mine : elsewhere), [](padded const& p) { return p.large; },
          skel::discard, where.options(resume));
    });
    CHECK(job.error(0).empty());
    CHECK(mine.told == (resume ? 12 : 6));
  }
}
