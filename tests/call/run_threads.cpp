// Ranks as threads of one process, as a user starts them.
#include "skel/run_threads.hpp"

#include <atomic>
#include <stdexcept>

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/skel.hpp"
#include "tree.hpp"

using call_test::tree;

namespace {

std::uint64_t square(std::uint64_t i) { return i * i; }

std::vector<std::uint64_t> squares(std::uint64_t n) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(i * i);
  return all;
}

// Every rank sends its number to the next one, and ends with the number of the one before.
struct shift {
  using state = int;
  using message = int;
  state begin(int /*rank*/, int /*size*/) const { return -1; }
  bool step(state& mine, skel::superstep<message>& now) const {
    for (auto const& l : now.received()) mine = l.content;
    if (now.number() == 1) return false;
    now.send((now.rank() + 1) % now.size(), now.rank());
    return true;
  }
};

}  // namespace

TEST_CASE("skeletons and teams run on threads as ranks") {
  for (int const ranks : {1, 2, 5}) {
    CAPTURE(ranks);
    std::vector<std::uint64_t> farmed, teams;
    std::uint64_t nodes = 0;
    std::atomic<int> right = 0;
    skel::run_threads(ranks, [&](skel::context& ctx) {
      skel::farm(ctx, skel::indices(100), square, skel::into(farmed));
      auto const alone = [](skel::context& team, std::uint64_t i) {
        std::uint64_t const size =
            skel::ring_steal(team, skel::on_root([] { return std::vector{3}; }), tree{}).value;
        return team.is_root() ? i * i + size : 0;
      };
      skel::farm(ctx, skel::indices(30), alone, skel::into(teams), {.task = {.team_size = 2}});
      auto half = ctx.split(ctx.rank() % 2);
      right += skel::bsp(half, shift{}).value == (half.rank() + half.size() - 1) % half.size() ? 1 : 0;
      auto const n = skel::ring_steal(ctx, skel::on_root([] { return std::vector{9}; }), tree{}).value;
      if (ctx.is_root()) nodes = n;
      right += ctx.local_rank() == ctx.rank() && ctx.local_size() == ranks && ctx.threads() >= 1 ? 1 : 0;
    });
    CHECK(farmed == squares(100));
    auto with_nodes = squares(30);
    for (auto& x : with_nodes) x += 15;
    CHECK(teams == with_nodes);
    CHECK(nodes == 1023);
    CHECK(right == 2 * ranks);
  }
}

TEST_CASE("what escapes from one rank's body leaves run_threads, and the others end") {
  for (int const bad : {0, 1, 3}) {
    CAPTURE(bad);
    std::atomic<int> began = 0, ended = 0;
    auto const body = [&](skel::context& ctx) {
      ++began;
      if (ctx.rank() == bad) throw std::out_of_range("rank " + std::to_string(bad));
      skel::farm(ctx, skel::indices(1000), square, [](skel::task_id, std::uint64_t) {});
      ++ended;
    };
    try {
      skel::run_threads(4, body);
      FAIL("nothing was thrown");
    } catch (std::out_of_range const& e) {
      CHECK(e.what() == "rank " + std::to_string(bad));
    }
    CHECK(began == 4);
    CHECK(ended == 0);
  }
}

TEST_CASE("run_threads throws what a task throws, and can be called again") {
  auto const fails = [](std::uint64_t i) -> std::uint64_t {
    if (i == 7) throw std::runtime_error("no luck");
    return i;
  };
  for (int again = 0; again < 2; ++again)
    CHECK_THROWS_AS(skel::run_threads(3,
                                      [&](skel::context& ctx) {
                                        std::vector<std::uint64_t> all;
                                        skel::farm(ctx, skel::indices(20), fails, skel::into(all));
                                      }),
                    skel::task_error);
  std::vector<std::uint64_t> all;
  skel::run_threads(3,
                    [&](skel::context& ctx) { skel::farm(ctx, skel::indices(20), square, skel::into(all)); });
  CHECK(all == squares(20));
}

TEST_CASE("run_threads takes the options of a context, and refuses less than one rank") {
  skel::context_options options;
  options.threads = 3;
  options.host.name = "node%r";
  std::atomic<int> right = 0;
  skel::run_threads(
      2, [&](skel::context& ctx) { right += ctx.threads() == 3 && ctx.size() == 2 ? 1 : 0; }, options);
  CHECK(right == 2);
  CHECK_THROWS_AS(skel::run_threads(0, [](skel::context&) {}), skel::usage_error);
  test::temporary_directory const directory;
  options.trace.file = directory.file("t.json");
  skel::run_threads(
      2,
      [](skel::context& ctx) {
        skel::farm(ctx, skel::indices(1), square, [](skel::task_id, std::uint64_t) {});
      },
      options);
  CHECK(test::read_file(options.trace.file).find("farm") != std::string::npos);
  options.trace.file = "/no such folder/t.json";
  CHECK_THROWS_AS(skel::run_threads(
                      2, [](skel::context&) {}, options),
                  skel::usage_error);
}
