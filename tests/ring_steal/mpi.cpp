// ring_steal over MPI: counts, consecutive calls, exceptions, ranks whose calls differ.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;
using test::contains;
using test::thrown_by;

struct node {
  int depth = 0;
  std::uint64_t index = 0;  // the path as ternary digits; deep trees keep only the last ones
};

// Three children per node, so the tree has (3^(depth + 1) - 1) / 2 nodes.
struct ternary {
  using task = node;
  using result = std::uint64_t;
  int depth = 9;
  std::int64_t throws_at = -1;  // the index of a node on the deepest level
  int rank = 0;
  int only_on = -1;  // this rank throws in any task

  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    if (rank == only_on) throw std::runtime_error("not here");
    if (only_on >= 0 && n.depth == 7)
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // gives that rank time to steal
    ++sum;
    if (n.depth == depth) {
      if (throws_at >= 0 && n.index == static_cast<std::uint64_t>(throws_at))
        throw std::runtime_error("no luck");
      return;
    }
    for (int i = 0; i < 3; ++i) more.emplace(node{n.depth + 1, n.index * 3 + static_cast<unsigned>(i)});
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

auto root_node() {
  return skel::on_root([] { return std::vector<node>{node{}}; });
}

constexpr std::uint64_t nodes(int depth) {
  std::uint64_t all = 1;
  for (int i = 0; i <= depth; ++i) all *= 3;
  return (all - 1) / 2;
}

void counts(skel::context& ctx) {
  for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one})
    for (int depth : {0, 1, 5, 11}) {
      auto const all = skel::ring_steal(ctx, root_node(), ternary{depth}, {.take = take});
      check_equal(all.value, nodes(depth), "nodes, on every rank");
      check_equal(all.report.tasks, nodes(depth), "tasks of the report");
      check_equal(all.report.skeleton, "ring_steal", "skeleton of the report");
      check(all.report.steals.has_value(), "the report has steals");
      if (ctx.is_root())
        check_equal(static_cast<int>(all.report.per_rank.size()), ctx.size(), "rows of the report");
    }
}

void farms_in_between(skel::context& ctx) {
  std::uint64_t sum = 0;
  skel::farm(
      ctx, skel::indices(100), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      [&](skel::task_id, std::uint64_t i) { sum += i; });
  if (ctx.is_root()) check_equal(sum, 4950U, "sum of the farm");
  check_equal(skel::ring_steal(ctx, root_node(), ternary{7}).value, nodes(7), "nodes after a farm");
}

void the_next_call_works(skel::context& ctx) {
  check_equal(skel::ring_steal(ctx, root_node(), ternary{4}).value, nodes(4), "nodes of the next call");
}

void a_task_throws(skel::context& ctx) {
  int const last = 19682;  // 3^9 - 1
  for (int at : {0, last / 2, last}) {
    auto const e = thrown_by<skel::task_error>(
        [&] {
          skel::ring_steal(ctx, root_node(), ternary{9, at});
        },
        "a task that throws");
    check_equal(e.text(), "no luck", "text of the task_error");
    the_next_call_works(ctx);
  }
  // The root throws in the very first task.
  ternary const first{9, -1, ctx.rank(), 0};
  auto const e = thrown_by<skel::task_error>([&] { skel::ring_steal(ctx, root_node(), first); },
                                             "a first task that throws");
  check_equal(e.rank(), 0, "rank of the task_error");
  the_next_call_works(ctx);
  if (ctx.size() == 1) return;
  ternary const elsewhere{9, -1, ctx.rank(), 1};
  auto const other = thrown_by<skel::task_error>([&] { skel::ring_steal(ctx, root_node(), elsewhere); },
                                                 "a task that throws on another rank");
  check_equal(other.rank(), 1, "rank of the task_error");
  the_next_call_works(ctx);
}

void ranks_that_disagree(skel::context& ctx) {
  if (ctx.size() == 1) return;
  auto const other_options = thrown_by<skel::protocol_error>(
      [&] {
        skel::ring_steal(
            ctx, root_node(), ternary{9},
            {.take = ctx.rank() == 1 ? skel::schedule::steal_size::one : skel::schedule::steal_size::half});
      },
      "ranks with other options");
  check(contains(other_options.what(), "rank 1 made another skeleton call"), other_options.what());
  the_next_call_works(ctx);
}

void it_ends_early(skel::context& ctx) {
  skel::ring_steal_options options;
  options.time_limit_seconds = 0.05;
  auto const all = skel::ring_steal(ctx, root_node(), ternary{40}, options);
  check(all.report.stopped_early, "stopped early");
  check(all.value > 0, "the result of half a search");
  check_equal(all.value, all.report.tasks, "the tasks of half a search");
  the_next_call_works(ctx);
}

// Only the last rank requests a stop, at a node it runs itself.
struct first_solution {
  using task = node;
  using result = std::uint64_t;
  bool stops = false;
  std::stop_source found{};
  static constexpr result solution = std::uint64_t{1} << 40;

  void run(node const& n, skel::spawner<node>& more, result& sum) const {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    ++sum;
    if (stops && n.depth > 20 && !found.stop_requested()) {
      sum += solution;
      std::stop_source(found).request_stop();
    }
    for (unsigned i = 0; i < 3; ++i) more({n.depth + 1, n.index * 3 + i});
  }
  result merge(result a, result b) const { return a + b; }
};

void it_stops_at_a_solution(skel::context& ctx) {
  first_solution const search{ctx.rank() == ctx.size() - 1};
  skel::ring_steal_options options;
  options.stop = search.found.get_token();
  auto const all = skel::ring_steal(ctx, root_node(), search, options);
  check(all.report.stopped_early, "stopped by a task");
  check(all.value >= first_solution::solution, "the solution is returned, on every rank");
  check_equal(all.value % first_solution::solution, all.report.tasks, "what ran is in the result");
  if (ctx.is_root()) {
    std::uint64_t ran = 0;
    for (auto const& row : all.report.per_rank) ran += row.tasks;
    check_equal(all.report.tasks, ran, "the report's tasks");
  }
  the_next_call_works(ctx);
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::stoi(argv[1]));
    counts(ctx);
    farms_in_between(ctx);
    a_task_throws(ctx);
    ranks_that_disagree(ctx);
    it_ends_early(ctx);
    it_stops_at_a_solution(ctx);
  });
}
