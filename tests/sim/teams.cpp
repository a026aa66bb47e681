// Farms of teams on simulated clusters.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "catch.hpp"
#include "forked.hpp"
#include "skel/sample_scaling.hpp"
#include "skel/sim/run.hpp"

namespace sim = skel::sim;

namespace {

constexpr int ranks = 1024, size = 16;
constexpr std::uint64_t tasks = 512;

skel::amdahl scaling_of(std::uint64_t i) {
  double const whole = 0.5 + static_cast<double>(i * 2654435761U % 1000) / 200;
  double const serial = 0.3 * static_cast<double>(i * 40503U % 1000) / 1000;
  return {whole * serial, whole * (1 - serial)};
}

struct found {
  double seconds, right, again, rank_seconds;  // the last: of all ranks while they lived
};

found ensemble(int deaths) {
  auto const all = forked::run([&] {
    std::vector<std::uint64_t> got;
    std::vector<double> out;
    double died = 0;  // sum of the times of death
    int dead = 0;
    sim::run_options options;
    options.suspect_after_seconds = 0.5;
    auto const where = sim::platform::ready("cluster:ranks=" + std::to_string(ranks));
    auto const end = sim::run(
        where,
        [&](skel::context& ctx) {
          auto const f = [&](skel::context& team, std::uint64_t i) {
            sim::spend(1);
            team.require_same("task", std::to_string(i));  // the ranks wait for each other
            return i + static_cast<std::uint64_t>(team.size());
          };
          auto into = skel::into(got);
          double const begin = sim::now();
          auto const report = skel::farm(ctx, skel::indices(tasks), f,
                                         [&](skel::task_id id, std::uint64_t&& x) {
                                           into(id, std::move(x));
                                           if (dead == deaths) return;
                                           sim::kill(63 * ++dead + 5);  // of one team each
                                           died += sim::now() - begin;
                                         },
                                         {.task = {.team_size = size}})
                                  .report;
          if (!ctx.is_root()) return;
          bool right = got.size() == tasks;
          for (std::uint64_t i = 0; i < got.size(); ++i) right = right && got[i] == i + size;
          out = {report.seconds, right ? 1.0 : 0.0, static_cast<double>(report.tasks_handed_out_again),
                 (ranks - deaths) * report.seconds + died};
        },
        options);
    if (end.exit_code != 0)
      throw std::runtime_error("exit code " + std::to_string(end.exit_code) + end.failure);
    return out;
  });
  return {all.at(0), all.at(1), all.at(2), all.at(3)};
}

// Seconds of 160 tasks of different lengths, with serial parts of 0 to 30 %, on 64 ranks.
double list_of_tasks(skel::team_size const& how) {
  return forked::run([&] {
           double seconds = 0;
           auto const end = sim::run(sim::platform::ready("cluster:ranks=64"), [&](skel::context& ctx) {
             auto const f = [&](skel::context& team, std::uint64_t i) {
               sim::spend(scaling_of(i).seconds(team.size()));
               return i;
             };
             std::vector<std::uint64_t> got;
             auto const report =
                 skel::farm(ctx, skel::indices(160), f, skel::into(got), {.task = {.team_size = how}}).report;
             if (ctx.is_root()) seconds = report.seconds;
           });
           if (end.exit_code != 0) throw std::runtime_error(end.failure);
           return std::vector{seconds};
         })
      .at(0);
}

}  // namespace

TEST_CASE("on 64 simulated ranks, chosen sizes end within 5 % of the best size for all") {
  double best = 1e300, worst = 0;
  int best_size = 0;
  for (int n = 1; n <= 64; n += n < 16 ? 1 : 16) {
    double const t = list_of_tasks(n);
    worst = std::max(worst, t);
    if (t < best) best_size = n;
    best = std::min(best, t);
  }
  double const ours =
      list_of_tasks(skel::team_size::chosen([](skel::task_id i, int n) { return scaling_of(i).seconds(n); }));
  // Rows of docs/measurements/teams.md, as below.
  std::printf("| one size for all, the best of 1 to 64 (%d) | %.2f |\n", best_size, best);
  std::printf("| one size for all, the worst | %.2f |\n| `team_size::chosen` | %.2f |\n", worst, ours);
  CHECK(ours <= 1.05 * best);
}

TEST_CASE("sizes from two samples of a task end within 5 % of the best size for all, on 64 simulated ranks") {
  static constexpr skel::amdahl truth{0.5, 4.5};
  auto const f = [](skel::context& team, std::uint64_t i) {
    sim::spend(truth.seconds(team.size()));
    return i;
  };
  auto const seconds = [&](std::optional<int> fixed) {
    return forked::run([&] {
      std::vector<double> out;
      auto const end = sim::run(sim::platform::ready("cluster:ranks=64"), [&](skel::context& ctx) {
        skel::farm_options options{.task = {.team_size = fixed.value_or(1)}};
        skel::amdahl law;
        if (!fixed) {
          law = skel::sample_scaling(ctx, f, std::uint64_t{0}, 4, 32);
          options.task.team_size =
              skel::team_size::chosen([&](skel::task_id, int n) { return law.seconds(n); });
        }
        std::vector<std::uint64_t> got;
        auto const report = skel::farm(ctx, skel::indices(80), f, skel::into(got), options).report;
        if (ctx.is_root()) out = {report.seconds, law.serial_seconds, law.parallel_seconds};
      });
      if (end.exit_code != 0) throw std::runtime_error(end.failure);
      return out;
    });
  };
  double best = 1e300;
  for (int const n : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 21, 32, 64}) best = std::min(best, seconds(n).at(0));
  auto const ours = seconds(std::nullopt);
  std::printf("| one size for all, the best | %.2f |\n| sizes from samples | %.2f |\n", best, ours.at(0));
  CHECK(ours.at(0) <= 1.05 * best);
  CHECK(ours.at(1) == Approx(truth.serial_seconds).epsilon(0.02));
  CHECK(ours.at(2) == Approx(truth.parallel_seconds).epsilon(0.02));
}

TEST_CASE("64 simulated teams of 16 ranks lose at most 5 % to the farm, and 10 % with 16 deaths") {
  for (int const deaths : {0, 16}) {
    auto const e = ensemble(deaths);
    double const efficiency = static_cast<double>(tasks) * size / e.rank_seconds;
    std::printf("| %d | %.3f | %.3f | %.0f |\n", deaths, e.seconds, efficiency, e.again);
    CHECK(e.right == 1);
    CHECK(e.again == deaths);
    CHECK(efficiency >= (deaths == 0 ? 0.95 : 0.90));
  }
}
