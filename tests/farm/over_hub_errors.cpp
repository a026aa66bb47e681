// Farms over several ranks in one process whose failed tasks run again or are left out.
#include <array>
#include <atomic>

#include "over_hub.hpp"

using namespace farm_test;

namespace {

constexpr std::uint64_t tasks = 120;

// Counts the calls of each task; all ranks are threads of this process.
struct call_counts {
  std::array<std::atomic<unsigned>, tasks> of{};
  unsigned operator()(std::uint64_t id) { return ++of[id]; }
};

bool bad(std::uint64_t id) { return id % 10 == 3 || id == 0 || id == tasks - 1; }

std::vector<std::uint64_t> ids(skel::report const& r) {
  std::vector<std::uint64_t> all;
  all.reserve(r.failed_tasks.size());
  for (auto const& f : r.failed_tasks) all.push_back(f.task);
  return all;
}

std::vector<std::uint64_t> bad_ids() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t id = 0; id < tasks; ++id)
    if (bad(id)) all.push_back(id);
  return all;
}

auto const plus = [](std::uint64_t a, std::uint64_t b) { return a + b; };

}  // namespace

TEST_CASE("failed tasks run again until they succeed, with every schedule, source and sink") {
  for (int ranks : {1, 3})
    for (int threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (auto const& how : schedules())
        for (bool concentrated : {false, true}) {
          INFO(ranks << " ranks, " << threads << " threads, " << how.to_string());
          skel::farm_options options{.on_error = skel::on_error::retry{.times = 4}};
          if (concentrated) options.results = skel::results::concentrated();
          call_counts calls;
          auto const f = [&](std::uint64_t id) {
            if (bad(id) && calls(id) <= 3) throw std::runtime_error("not yet");
            return work(id);
          };
          std::vector<std::uint64_t> got;
          // Copies may fail more often than the original alone.
          bool const copies = how.policy().copies;
          if (copies) options.task.run_once = how.to_string() == "auto";
          if (copies && !options.task.run_once) continue;
          std::uint64_t total = 0;
          job.run_well([&](skel::context& ctx) {
            auto const r = skel::farm(ctx, skel::indices(tasks), f, how, skel::into(got), options).report;
            if (ctx.is_root()) {
              CHECK(r.tasks == tasks);
              CHECK(r.failed_tasks.empty());
            }
          });
          CHECK(got == expected(tasks));
          for (auto& n : calls.of) n = 0;
          job.run([&](skel::context& ctx) {
            skel::farm(ctx, skel::indices(tasks), f, how, skel::reduced(total, plus), options);
          });
          std::uint64_t sum = 0;
          for (auto const x : expected(tasks)) sum += x;
          CHECK(total == sum);
        }
    }
}

TEST_CASE("failed tasks of a stream run again") {
  for (int ranks : {1, 3}) {
    hub::job job(ranks, 2);
    for (char const* name : {"first-come", "guided", "ring", "auto"}) {
      INFO(ranks << " ranks, " << name);
      call_counts calls;
      std::vector<std::uint64_t> got;
      job.run_well([&](skel::context& ctx) {
        auto const f = [&](std::uint64_t id) {
          if (bad(id) && calls(id) <= 2) throw std::runtime_error("not yet");
          return work(id);
        };
        auto const write = [&](skel::task_id, std::uint64_t x) { got.push_back(x); };
        skel::farm(ctx, counting(tasks), f, skel::any_schedule(name), skel::ordered(write, 7),
                   {.on_error = skel::on_error::retry{}, .task = {.run_once = true}});
      });
      CHECK(got == expected(tasks));
    }
  }
}

TEST_CASE("a task that fails too often ends the run, and the text says how often it failed") {
  hub::job job(3, 2);
  for (auto const& how : schedules()) {
    INFO(how.to_string());
    call_counts calls;
    auto const text = job.all_throw<skel::task_error>([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t id) {
        if (id != 7) return work(id);
        calls(id);
        throw std::runtime_error("no luck");
      };
      skel::farm(ctx, skel::indices(tasks), f, how, [](skel::task_id, std::uint64_t) {},
                 {.on_error = skel::on_error::retry{}});
    });
    CHECK(text.starts_with("task 7 failed on rank "));
    CHECK(text.ends_with(": no luck (the task failed 3 times)"));
    CHECK(calls.of[7] >= 3);
  }
}

TEST_CASE("a rank on which everything fails does no harm, since failed tasks run elsewhere") {
  hub::job job(3, 1);
  for (char const* name : {"first-come", "guided", "blocks", "ring", "hybrid", "auto"}) {
    INFO(name);
    std::vector<std::uint64_t> got;
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t id, skel::worker_info const& where) {
        if (where.rank == 1) throw std::runtime_error("this host has no licence");
        return slow_work(id);
      };
      skel::farm(ctx, skel::indices(tasks), f, skel::any_schedule(name), skel::into(got),
                 {.on_error = skel::on_error::retry{.times = 2}, .task = {.run_once = true}});
    });
    CHECK(got == expected(tasks));
  }
}

TEST_CASE("collect leaves failed tasks out and names them in the report") {
  for (int ranks : {1, 3})
    for (unsigned times : {1U, 2U}) {
      hub::job job(ranks, 2);
      for (auto const& how : schedules()) {
        INFO(ranks << " ranks, " << how.to_string() << ", " << times << " times");
        skel::farm_options const options{.on_error = skel::on_error::collect{.times = times}};
        auto const f = [](std::uint64_t id) {
          if (bad(id)) throw std::runtime_error("bad " + std::to_string(id));
          return work(id);
        };
        std::vector<std::uint64_t> got, in_order;
        std::vector<std::uint64_t> right = expected(tasks), right_in_order;
        std::uint64_t total = 0, sum = 0;
        for (std::uint64_t id = 0; id < tasks; ++id) {
          if (bad(id))
            right[id] = 0;
          else
            right_in_order.push_back(right[id]);
          sum += right[id];
        }
        auto const check = [&](skel::context& ctx, skel::report const& r) {
          if (!ctx.is_root()) return;
          CHECK(ids(r) == bad_ids());
          CHECK(r.tasks == tasks - bad_ids().size());
          for (auto const& failed : r.failed_tasks) {
            CHECK(failed.text == "bad " + std::to_string(failed.task));
            CHECK(failed.times == times);
            CHECK((failed.rank >= 0 && failed.rank < ranks));
          }
        };
        job.run([&](skel::context& ctx) {
          check(ctx, skel::farm(ctx, skel::indices(tasks), f, how, skel::into(got), options).report);
        });
        job.run([&](skel::context& ctx) {
          auto const write = [&](skel::task_id, std::uint64_t x) { in_order.push_back(x); };
          if (how.policy().more == skel::schedule::more_from::root &&
              how.policy().start == skel::schedule::start_with::nothing)
            check(ctx, skel::farm(ctx, counting(tasks), f, how, skel::ordered(write, 5), options).report);
          else
            check(ctx, skel::farm(ctx, skel::indices(tasks), f, how, skel::ordered(write), options).report);
        });
        auto const once = how.policy().copies && how.to_string() != "auto";  // its copies cannot be merged
        if (!once)
          job.run([&](skel::context& ctx) {
            check(ctx,
                  skel::farm(ctx, skel::indices(tasks), f, how, skel::reduced(total, plus), options).report);
          });
        for (int r = 0; r < ranks; ++r) CHECK(job.error(r).empty());
        CHECK(got == right);
        CHECK(in_order == right_in_order);
        CHECK((once || total == sum));
      }
    }
}

TEST_CASE("a run in which all tasks fail ends, and so does one without tasks") {
  hub::job job(3, 2);
  for (auto const& how : schedules())
    for (std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, tasks}) {
      INFO(how.to_string() << ", " << n << " tasks");
      job.run_well([&](skel::context& ctx) {
        auto const f = [](std::uint64_t) -> int { throw std::runtime_error("never"); };
        auto const r = skel::farm(ctx, skel::indices(n), f, how, [](skel::task_id, int) { FAIL("a result"); },
                                  {.on_error = skel::on_error::collect{}})
                           .report;
        if (ctx.is_root()) {
          CHECK(r.tasks == 0);
          CHECK(r.failed_tasks.size() == n);
        }
      });
    }
}

TEST_CASE("a merge that throws, a sink that throws and 0 times are refused whatever on_error says") {
  hub::job job(3, 2);
  skel::farm_options const options{.on_error = skel::on_error::collect{.times = 3}};
  std::uint64_t total = 0;
  job.run([&](skel::context& ctx) {
    auto const merge = [](std::uint64_t a, std::uint64_t b) -> std::uint64_t {
      if (a + b > 40) throw std::runtime_error("overflow");
      return a + b;
    };
    skel::farm(
        ctx, skel::indices(tasks), [](std::uint64_t id) { return id; }, skel::schedule::guided{},
        skel::reduced(total, merge), options);
  });
  for (int r = 0; r < 3; ++r) CHECK(job.error(r).find("overflow") != std::string::npos);
  job.all_throw<skel::sink_error>([&](skel::context& ctx) {
    skel::farm(
        ctx, skel::indices(tasks), work,
        [](skel::task_id, std::uint64_t) { throw std::runtime_error("disk full"); }, options);
  });
  job.all_throw<skel::usage_error>([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(tasks), work, [](skel::task_id, std::uint64_t) {},
               {.on_error = skel::on_error::retry{.times = 0}});
  });
}
