// Every schedule, way of results, role of the root and number of tasks gives a farm's result the same bytes.
// Argument: compute threads per rank.
#include <cstdlib>
#include <span>
#include <vector>

#include "mpi/check.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

constexpr char const* schedules[] = {"blocks",
                                     "interleaved",
                                     "first-come",
                                     "first-come:chunk=3",
                                     "first-come:chunk=2,threshold=0",
                                     "auto",
                                     "guided",
                                     "guided:min=5",
                                     "hybrid",
                                     "hybrid:cut=10,threshold=2",
                                     "hybrid:cut=0%",
                                     "hybrid:cut=100%",
                                     "ring",
                                     "ring:take=one,order=predecessors",
                                     "ring:order=doubling"};
constexpr char const* ways[] = {"streamed", "streamed:batch=7", "concentrated"};

std::string hash_of(std::vector<std::uint64_t> const& values) {
  return skel::xxh3_hex(std::as_bytes(std::span(values)));
}

// Results differ in length, so that a misplaced result shows.
std::vector<std::uint64_t> result_of(std::uint64_t task) {
  return std::vector<std::uint64_t>(task % 5, test::mix(task));
}

std::string expected(std::uint64_t tasks) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t t = 0; t < tasks; ++t) {
    all.push_back(t);
    for (auto const v : result_of(t)) all.push_back(v);
  }
  return hash_of(all);
}

void check_report(skel::context const& ctx, skel::report const& r, skel::any_schedule const& how,
                  std::uint64_t tasks, bool serves) {
  check_equal(r.schedule, how.to_string(), "schedule");
  check_equal(r.ranks, ctx.size(), "ranks");
  if (!ctx.is_root()) {
    check_equal(r.per_rank.size(), 1U, "rows of a report on other ranks than the root");
    return;
  }
  check_equal(r.tasks, tasks, "tasks");
  check_equal(r.per_rank.size(), static_cast<std::size_t>(ctx.size()), "rows of the report");
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < r.per_rank.size(); ++i) {
    check_equal(r.per_rank[i].rank, static_cast<int>(i), "rank of a row");
    done += r.per_rank[i].tasks;
  }
  if (how.policy().copies)
    check(done >= tasks, "copies add to the tasks of all rows");
  else
    check_equal(done, tasks, "tasks of all rows");
  if (serves && ctx.size() > 1) check_equal(r.per_rank[0].tasks, 0U, "tasks of a serving root");
  check(r.busy_share >= 0 && r.busy_share <= 1, "busy share between 0 and 1");
  check(!r.stopped_early && r.lost_ranks.empty(), "the run is whole");
}

void run(skel::context& ctx, std::uint64_t tasks, char const* schedule, char const* way, bool serves) {
  skel::any_schedule const how(schedule);
  std::vector<std::vector<std::uint64_t>> got(tasks);
  std::vector<int> times(tasks);
  skel::farm_options options;
  options.results = skel::parse_results(way);
  options.root = serves ? skel::root_role::serves : skel::root_role::works;
  auto const report = skel::farm(
                          ctx, skel::indices(tasks), [](std::uint64_t task) { return result_of(task); }, how,
                          [&](skel::task_id id, std::vector<std::uint64_t>&& value) {
                            ++times.at(id);
                            got.at(id) = std::move(value);
                          },
                          options)
                          .report;
  auto const where = std::string(schedule) + " " + way + " with " + std::to_string(tasks) + " tasks";
  try {
    check_report(ctx, report, how, tasks, serves);
  } catch (std::runtime_error const& e) {
    throw std::runtime_error(where + ": " + e.what());
  }
  if (!ctx.is_root()) {
    check(times == std::vector<int>(tasks), where + ": the sink is called on the root only");
    return;
  }
  check(times == std::vector<int>(tasks, 1), where + ": every result comes once");
  std::vector<std::uint64_t> all;
  for (std::uint64_t t = 0; t < tasks; ++t) {
    all.push_back(t);
    all.insert(all.end(), got[t].begin(), got[t].end());
  }
  check_equal(hash_of(all), expected(tasks), where);
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    for (std::uint64_t const tasks : {0, 1, 2, 7, 700})
      for (auto const* schedule : schedules)
        for (auto const* way : ways)
          for (bool const serves : {false, true}) run(ctx, tasks, schedule, way, serves);
  });
}
