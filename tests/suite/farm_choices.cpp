// Every schedule, way of results, role of the root and number of tasks gives a farm's result the same bytes.
#include "suite.hpp"

namespace suite::choices {

namespace {

using values = std::vector<std::uint64_t>;

// Results differ in length, so that a misplaced result shows.
values result_of(std::uint64_t task) { return values(task % 5, mix(task)); }

void check_report(skel::context const& ctx, skel::report const& r, skel::any_schedule const& how,
                  std::uint64_t tasks, bool serves) {
  CHECK(r.schedule == how.to_string());
  CHECK(r.ranks == ctx.size());
  CHECK(r.per_rank.size() == static_cast<std::size_t>(ctx.is_root() ? ctx.size() : 1));
  if (!ctx.is_root()) return;
  CHECK(r.tasks == tasks);
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < r.per_rank.size(); ++i) {
    CHECK(r.per_rank[i].rank == static_cast<int>(i));
    done += r.per_rank[i].tasks;
  }
  if (how.policy().copies)
    CHECK(done >= tasks);
  else
    CHECK(done == tasks);
  if (serves && ctx.size() > 1) CHECK(r.per_rank[0].tasks == 0);
  CHECK(r.busy_share >= 0);
  CHECK(r.busy_share <= 1);
  CHECK(!r.stopped_early);
  CHECK(r.lost_ranks.empty());
}

void run(skel::context& ctx, std::uint64_t tasks, skel::any_schedule const& how,
         skel::farm_options const& options) {
  std::vector<values> got(tasks);
  std::vector<int> times(tasks);
  auto const report = skel::farm(
                          ctx, skel::indices(tasks), result_of, how,
                          [&](skel::task_id id, values&& value) {
                            ++times.at(id);
                            got.at(id) = std::move(value);
                          },
                          options)
                          .report;
  check_report(ctx, report, how, tasks, !options.root_works);
  CHECK(times == std::vector<int>(tasks, ctx.is_root() ? 1 : 0));
  for (std::uint64_t t = 0; ctx.is_root() && t < tasks; ++t) CHECK(got[t] == result_of(t));
}

}  // namespace

TEST_CASE("every choice gives every result once, on the root", "[farm][choices]") {
  for (auto const* schedule : schedules)
    for (auto const* way : {"streamed", "streamed:batch=7", "concentrated"}) {
      INFO(schedule << ' ' << way);
      on_ranks([&](skel::context& ctx) {
        for (std::uint64_t const tasks : {0, 1, 2, 3, 7, 700})
          for (bool const root_works : {true, false})
            run(ctx, tasks, skel::any_schedule(schedule),
                {.results = skel::parse_results(way), .root_works = root_works});
      });
    }
}

}  // namespace suite::choices
