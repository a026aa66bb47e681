// The blocks of code of the documentation, in the smallest programs that give their names a meaning. What
// needs several ranks runs on threads; what needs MPI or disks of its own is only compiled.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <skel/exact_merges.hpp>
#include <skel/mpi.hpp>
#include <skel/program.hpp>
#include <skel/sample_scaling.hpp>
#include <skel/skel.hpp>
#include <skel/storage/coder.hpp>
#include <skel/storage/repository.hpp>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "catch.hpp"

// Some blocks end with a result that the reader would use.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"

namespace {

namespace supersteps {
double heat(skel::context& ctx) {
#include "bsp_1.inc"
  return mine;
}

struct line {
  using state = std::vector<double>;
  using message = int;
  state begin(int rank, int /*size*/) const { return {3.0, 1.0 * rank}; }
  bool step(state& /*mine*/, skel::superstep<message>& /*now*/) const { return false; }
};
void print(std::vector<double> const& part) { CHECK(part.front() == 3); }
double norm_of(std::vector<double> const& part) { return part.front() + part.back(); }
std::vector<double> norms_of_lines(skel::context& ctx) {
#include "bsp_2.inc"
  return norms.value();
}

struct cells {
  std::array<double, 3> cells, next;
};
double f(std::array<double, 3> const& all, std::uint64_t i) { return 2 * all[i]; }
struct doubling {
  using state = supersteps::cells;
  using message = int;
  state begin(int /*rank*/, int /*size*/) const { return {{1, 2, 3}, {0, 0, 0}}; }
  bool step(state& mine, skel::superstep<message>& now) const {
#include "bsp_3.inc"
    return false;
  }
};

#include "bsp_4.inc"
}  // namespace supersteps

namespace farms {
auto const source = skel::indices(20);
int f(std::uint64_t i) { return static_cast<int>(i); }
void sink(skel::task_id /*task*/, int /*result*/) {}

void audits(skel::context& ctx) {
#include "audit-results_1.inc"
}

void failures(skel::context& ctx) {
#include "failing-tasks_1.inc"
}

void outcomes(skel::context& ctx) {
  auto const f = [](std::uint64_t i) { return static_cast<double>(i); };
  std::vector<double> table(20);
#include "failing-tasks_2.inc"
}

struct point {
  double x = 0;
};
point draw() {  // on the root
  static double x = 1;
  return {x /= 2};
}
double evaluate(point const& p) { return p.x; }
void steer(skel::context& ctx) {
#include "steer-a-farm_1.inc"
}

void cudaSetDevice(int /*device*/) {}
int on_processor(std::uint64_t task) { return f(task); }
int on_gpu(std::uint64_t task) { return f(task); }
void devices(skel::context& ctx) {
#include "accelerators_1.inc"
}

void everywhere(skel::context& ctx) {
  auto const f = [](std::uint64_t i) { return static_cast<double>(i); };
#include "farm-results_1.inc"
  if (results.size() != 1000 || last != 999) throw std::runtime_error("other results than the root's");
}

void first_good(skel::context& ctx) {
  auto const quality_of = [](std::uint64_t i) { return i % 1000 == 317 || i == 5000 ? 1.0 : 0.5; };
#include "farm-results_2.inc"
  if (!report.stopped_early || !found || *found != skel::task_id{317})
    throw std::runtime_error("not the first good one");
}

double threads(skel::context& ctx) {
#include "threads_1.inc"
  return most;
}

struct file {
  double bytes;
};
std::vector<int> costs(skel::context& ctx) {
  std::vector<file> const files{{3}, {1}, {2}};
  auto const analyse = [](file const& one) { return static_cast<int>(one.bytes); };
  std::vector<int> results;
#include "known-costs_1.inc"
  return results;
}

struct model {
  std::uint64_t cells;
  unsigned width;
  double hours;
};
std::vector<std::uint64_t> needs(skel::context& ctx) {
  std::vector<model> const models{{3, 1, 0.1}, {5, 1, 2}};
  std::vector<std::uint64_t> results;
#include "needs_1.inc"
  return results;
}

[[maybe_unused]] void checkpoints(skel::context& ctx) {
#include "rollback_1.inc"
}

[[maybe_unused]] void time_loop(skel::context& ctx, std::string const& settings) {
  auto const cells = skel::indices(48);
  auto const advance = [](std::uint64_t i) { return i; };
  auto const sink = [](skel::task_id, std::uint64_t) {};
#include "rollback_2.inc"
}
}  // namespace farms

namespace teams {
struct member {
  double start;
};
struct field_values {
  double value;
  double mean() const { return value; }
};
field_values heat(MPI_Comm /*team*/, member const& m) { return {m.start}; }
#include "teams_1.inc"
[[maybe_unused]] void run(skel::context& ctx, std::vector<member> const& members) {
  std::vector<double> means;
#include "teams_2.inc"
#include "teams_3.inc"
}
}  // namespace teams

namespace searches {
struct choice {
  int value, left;
};
int best_possible(choice const& c) { return c.value + c.left; }
template <class Spawner>
void spawn_children(choice const& c, Spawner& more) {
  if (c.left > 0) more({c.value + 1, c.left - 1});
}
#include "ring-steal_2.inc"

struct board {
  int queens;
};
bool solved(board const& b) { return b.queens == 8; }
void spawn_next(board const& b, skel::spawner<board>& more) { more({b.queens + 1}); }
struct solutions {
  int count = 0;
  void add(board const& /*solved*/) { ++count; }
  friend solutions operator+(solutions a, solutions b) { return {a.count + b.count}; }
};
}  // namespace searches

namespace programs {
#include "program-options_1.inc"
}
}  // namespace
template <>
inline constexpr bool skel::exact_merge<searches::solutions> = true;
#include "exact-merges_1.inc"
namespace {
namespace searches {
int first(skel::context& ctx) {
  auto const source = skel::on_root([] { return std::vector{board{0}}; });
#include "ring-steal_3.inc"
  return some.count;
}
}  // namespace searches

namespace stores {
[[maybe_unused]] void codes(std::vector<std::byte const*> const& data, std::vector<std::byte*> const& parity,
                            std::vector<std::byte*> const& shards, std::vector<bool> const& present,
                            std::size_t size, std::byte const* before, std::byte const* after) {
#include "checkpoint_1.inc"
}
[[maybe_unused]] void first(std::uint64_t hash_of_the_problem, std::uint32_t parts, std::uint32_t part,
                            std::vector<std::byte> const& bytes, std::vector<std::vector<std::byte>>& state) {
#include "checkpoint_2.inc"
}
[[maybe_unused]] void increment(skel::storage::repository& store, skel::storage::generation_plan const& last,
                                std::uint32_t parts, std::uint32_t part,
                                std::vector<std::byte> const& new_bytes) {
#include "checkpoint_3.inc"
}
}  // namespace stores

}  // namespace

TEST_CASE("the blocks of code of the documentation do what they say") {
  skel::run_threads(3, [](skel::context& ctx) {
    auto const mine = supersteps::heat(ctx);
    CHECK(std::abs(mine - 1) < 1e-9);  // the heat has spread
    auto const norms = supersteps::norms_of_lines(ctx);
    CHECK(norms == std::vector<double>{3, 4, 5});
    auto const doubled = skel::bsp(ctx, supersteps::doubling{}).value;
    CHECK(doubled.next == std::array<double, 3>{2, 4, 6});
    farms::audits(ctx);
    farms::failures(ctx);
    farms::outcomes(ctx);
    farms::steer(ctx);
    farms::devices(ctx);
    farms::everywhere(ctx);
    farms::first_good(ctx);
    auto const most = farms::threads(ctx);
    if (ctx.is_root()) CHECK(most == 1200);
    auto const costs = farms::costs(ctx);
    if (ctx.is_root()) CHECK(costs == std::vector<int>{3, 1, 2});
    auto const needs = farms::needs(ctx);
    if (ctx.is_root()) CHECK(needs == std::vector<std::uint64_t>{3, 5});
    auto const open = skel::on_root([] { return std::vector{searches::choice{0, 5}}; });
    CHECK(skel::ring_steal(ctx, open, searches::knapsack{}).value == 5);
    CHECK(searches::first(ctx) == 1);
    auto const found = summary_of(ctx, 100, [](std::uint64_t i) { return i % 40 == 7 ? 3.0 : 1.0; });
    if (ctx.is_root()) {
      CHECK((found.least.value() == 1 && found.most.value() == 3 && found.most.task() == 7));
      CHECK((found.spread.counts()[15] == 3 && found.kinds.entries.at("small") == 97));
    }
  });
}

TEST_CASE("a program takes its options and sees its own arguments") {
  std::string words[] = {"squares", "--quiet", "10", "--schedule=guided"};
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  skel::run_threads(1, [&](skel::context& ctx) { CHECK(programs::squares(ctx, 4, argv.data()) == 0); });
}
