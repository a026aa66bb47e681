// Results of farms on all ranks.
#include <atomic>
#include <stdexcept>

#include "over_hub.hpp"
#include "skel/everywhere.hpp"

using namespace farm_test;

namespace {

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }

}  // namespace

TEST_CASE("every rank has all results, with any schedule and number of tasks, in two calls in a row") {
  for (int const ranks : {1, 2, 5})
    for (std::uint64_t const tasks : {0U, 1U, 3U, 200U})
      for (auto const& how : schedules()) {
        INFO(ranks << ' ' << tasks << ' ' << how.to_string());
        std::atomic<int> right{0};
        hub::job job(ranks);
        job.run_well([&](skel::context& ctx) {
          std::vector<std::uint64_t> got(7, 1);
          std::uint64_t sum = 5;
          auto const report =
              skel::farm(ctx, skel::indices(tasks), work, how, skel::everywhere(skel::into(got))).report;
          skel::farm(ctx, skel::indices(tasks), work, skel::everywhere(skel::reduced(sum, add)));
          std::uint64_t expected_sum = 5;
          for (auto const x : expected(tasks)) expected_sum += x;
          if (got == expected(tasks) && sum == expected_sum && report.skeleton == "farm") ++right;
        });
        CHECK(right == ranks);
      }
}

TEST_CASE("every rank that is left has all results after losses") {
  for (int const late : {0, 20, 199}) {
    INFO(late);
    std::atomic<int> right{0}, done{0};
    hub::job job(4);
    job.run([&](skel::context& ctx) {
      std::vector<std::uint64_t> got;
      auto const f = [&](std::uint64_t i) {
        if (done++ == late) job.kill(2);
        return slow_work(i);
      };
      auto sink = skel::everywhere(skel::into(got));
      skel::farm(ctx, skel::indices(200), f, sink, {.max_losses_per_task = 0});
      if (got == expected(200)) ++right;
    });
    for (int const r : {0, 1, 3}) CHECK(job.error(r).empty());
    CHECK(right >= 3);
  }
}

TEST_CASE("a farm that ends early gives all ranks what its root has received") {
  hub::job job(3);
  std::vector<std::vector<std::uint64_t>> of_rank(3);
  job.run_well([&](skel::context& ctx) {
    std::stop_source stop;
    auto const f = [&](std::uint64_t i) {
      if (i == 50) stop.request_stop();
      return slow_work(i);
    };
    auto& mine = of_rank[static_cast<std::size_t>(ctx.rank())];
    auto const report = skel::farm(ctx, skel::indices(100'000), f, skel::everywhere(skel::into(mine)),
                                   {.stop = stop.get_token()})
                            .report;
    if (!report.stopped_early) throw std::runtime_error("ran to the end");
  });
  CHECK(of_rank[0].size() == 100'000);
  CHECK(of_rank[1] == of_rank[0]);
  CHECK(of_rank[2] == of_rank[0]);
}

TEST_CASE("a task that throws ends the call on every rank, and nothing is sent") {
  hub::job job(3);
  std::vector<std::vector<std::uint64_t>> of_rank(3, {7});
  job.run([&](skel::context& ctx) {
    auto const f = [](std::uint64_t i) -> std::uint64_t {
      if (i == 3) throw std::runtime_error("bad task");
      return i;
    };
    skel::farm(ctx, skel::indices(10), f,
               skel::everywhere(skel::into(of_rank[static_cast<std::size_t>(ctx.rank())])));
  });
  for (int const r : {0, 1, 2}) CHECK(job.error(r).find("bad task") != std::string::npos);
  CHECK(of_rank[1] == std::vector<std::uint64_t>{7});
}

TEST_CASE("every rank has the outcomes of all tasks") {
  hub::job job(3);
  std::atomic<int> right{0};
  job.run_well([&](skel::context& ctx) {
    std::vector<skel::outcome<std::uint64_t>> got;
    auto const f = [](std::uint64_t i) {
      if (i == 3) throw std::runtime_error("bad task");
      return i;
    };
    skel::farm(ctx, skel::indices(10), f, skel::everywhere(skel::into(got)),
               {.on_error = skel::on_error::collect{}});
    bool good = got.size() == 10;
    for (std::uint64_t i = 0; good && i < 10; ++i)
      good = i == 3 ? !got[i] && got[i].error().text == "bad task" : got[i] && *got[i] == i;
    if (good) ++right;
  });
  CHECK(right == 3);
}
