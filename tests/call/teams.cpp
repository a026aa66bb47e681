// Teams: contexts over a subset of another context's ranks, several at a time, with losses.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "farm/over_hub.hpp"
#include "skel/skel.hpp"
#include "tree.hpp"

using namespace farm_test;
using call_test::tree;

namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b; }

// Returns the sum of work(0 ... n - 1) on the team's root.
std::uint64_t farmed(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(ctx, skel::indices(n), work, skel::schedule::guided{}, skel::reduced(total, sum));
  return total;
}
std::uint64_t expected_sum(std::uint64_t n) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < n; ++i) total += work(i);
  return total;
}

struct sum_of_numbers {
  using problem = std::pair<std::uint64_t, std::uint64_t>;
  using solution = std::uint64_t;
  bool trivial(problem const& p) const { return p.second - p.first <= 1; }
  solution conquer(problem const& p) const { return p.first; }
  std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.first + (p.second - p.first) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution a, solution b) const { return a + b; }
};

struct means {
  using carried = int;
  using unit = std::uint64_t;
  using packet = std::uint64_t;
  using result = std::uint64_t;
  std::uint64_t read(std::uint64_t number, int& /*state*/, std::uint64_t& into) const {
    into = number;
    return 2;
  }
  packet cut(unit const& u, std::uint64_t first, std::uint64_t /*count*/) const { return 10 * u + first; }
  result process(packet const& p, std::size_t /*piece*/) const { return p; }
};

// Passes a sum around a ring of ranks.
struct circle {
  using state = std::uint64_t;
  using message = std::uint64_t;
  state begin(int rank, int /*size*/) const { return static_cast<std::uint64_t>(rank) + 1; }
  bool step(state& mine, skel::superstep<message>& now) const {
    for (auto const& l : now.received()) mine += l.content;
    if (now.number() == 2) return false;
    now.send((now.rank() + 1) % now.size(), mine);
    return true;
  }
};

}  // namespace

TEST_CASE("the list sets a team's rank order; its first rank is the root") {
  hub::job job(4);
  std::atomic<int> root = -1;
  std::uint64_t got = 0;
  job.run([&](skel::context& ctx) {
    if (ctx.rank() == 1) return;
    auto team = ctx.team({3, 0, 2});
    auto const total = farmed(team, 50);
    if (team.is_root()) {
      root = ctx.rank();
      got = total;
    }
  });
  CHECK(root == 3);
  CHECK(got == expected_sum(50));
}

TEST_CASE("keys set the rank order of a split") {
  hub::job job(5);
  std::vector<int> place(5, -1);
  job.run([&](skel::context& ctx) {
    auto const team = ctx.split(-7, -ctx.rank());
    place[static_cast<std::size_t>(ctx.rank())] = team.rank();
  });
  CHECK(place == std::vector{4, 3, 2, 1, 0});
}

TEST_CASE("every skeleton runs on a team") {
  for (int const ranks : {3, 4, 6}) {
    CAPTURE(ranks);
    hub::job job(ranks);
    std::atomic<int> wrong = 0;
    job.run_well([&](skel::context& ctx) {
      auto team = ctx.split(ctx.rank() == 1 ? 1 : 0);
      auto const expect = [&](bool holds) { wrong += holds ? 0 : 1; };
      auto const nodes = skel::ring_steal(team, skel::on_root([] { return std::vector{10}; }), tree{}).value;
      expect(!team.is_root() || nodes == 2047);
      skel::replicated_problem const all{sum_of_numbers::problem{0, 1000}};
      expect(*skel::divide_and_conquer(team, all, sum_of_numbers{}, skel::division::hypercube{}).value ==
             499500);
      std::vector<std::uint64_t> results;
      skel::multi_host(team, 6, means{},
                       [&](std::uint64_t, std::uint64_t, std::uint64_t r) { results.push_back(r); });
      expect(!team.is_root() || results.size() == 12);
      auto const state = skel::bsp(team, circle{}).value;
      if (team.size() == 1) expect(state == 4);
      team.require_same("size", std::to_string(team.size()));
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a team can be split into teams") {
  hub::job job(8);
  std::atomic<std::uint64_t> roots = 0;
  job.run_well([&](skel::context& ctx) {
    auto half = ctx.split(ctx.rank() / 4);
    auto quarter = half.split(half.rank() / 2);
    auto alone = quarter.team({quarter.rank()});
    if (quarter.size() != 2 || alone.size() != 1) throw std::runtime_error("another size");
    auto const total = farmed(quarter, 20);
    if (quarter.is_root() && total == expected_sum(20)) ++roots;
    if (farmed(alone, 20) != expected_sum(20)) throw std::runtime_error("another sum");
    farmed(ctx, 20);
  });
  CHECK(roots == 4);
}

TEST_CASE("a rank may join several teams in sequence") {
  hub::job job(4);
  job.run_well([&](skel::context& ctx) {
    for (int round = 0; round < 10; ++round) {  // pairs 01 23, then 12 30
      auto even = ctx.team({2 * (ctx.rank() / 2), 2 * (ctx.rank() / 2) + 1});
      farmed(even, 10);
      int const first = ctx.rank() % 2 == 1 ? ctx.rank() : (ctx.rank() + 3) % 4;
      auto odd = ctx.team({first, (first + 1) % 4});
      farmed(odd, 10);
    }
  });
}

TEST_CASE("a call inside a task works on a team of that rank alone") {
  hub::job job(3);
  std::uint64_t got = 0;
  job.run_well([&](skel::context& ctx) {
    auto alone = ctx.team({ctx.rank()});
    skel::farm(
        ctx, skel::indices(12), [&](std::uint64_t i) { return farmed(alone, i); },
        skel::schedule::first_come{}, skel::reduced(got, sum));
  });
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < 12; ++i) all += expected_sum(i);
  CHECK(got == all);
}

TEST_CASE("a sink makes calls on a team of its rank, also while all threads are inside tasks") {
  for (int const ranks : {1, 2}) {
    hub::job job(ranks);
    std::uint64_t got = 0;
    job.run_well([&](skel::context& ctx) {
      auto alone = ctx.team({ctx.rank()});
      auto const task = [](std::uint64_t i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return i;
      };
      skel::farm(ctx, skel::indices(40), task,
                 [&](skel::task_id, std::uint64_t i) { got += farmed(alone, i); });
    });
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < 40; ++i) all += expected_sum(i);
    CHECK(got == all);
  }
}

TEST_CASE("a merge makes no calls, also not on a team") {
  hub::job job(2);
  job.run([&](skel::context& ctx) {
    auto alone = ctx.team({ctx.rank()});
    std::uint64_t total = 0;
    auto const refused = [&](auto const& call) {
      auto const merge = [&](std::uint64_t a, std::uint64_t b) {
        call();
        return a + b;
      };
      try {
        skel::farm(ctx, skel::indices(100), slow_work, skel::schedule::first_come{},
                   skel::reduced(total, merge), {.results = skel::results::concentrated()});
      } catch (skel::error const& bad) {
        if (std::string(bad.what()).find("a skeleton call inside a merge") != std::string::npos) return;
        throw;
      }
      throw std::runtime_error("nothing was thrown");
    };
    refused([&] { farmed(alone, 1); });
    refused([&] { alone.require_same("a value", "1"); });
    refused([&] { static_cast<void>(ctx.team({ctx.rank()})); });
  });
  for (int rank : {0, 1}) CHECK(job.error(rank).empty());
}

TEST_CASE("a team survives the loss of any rank but its root; other teams are not affected") {
  for (int const lost : {1, 2, 3}) {  // 2 is the root of the second team
    CAPTURE(lost);
    hub::job job(6);
    std::atomic<int> begun = 0;
    std::vector<std::uint64_t> got(2);
    job.run([&](skel::context& ctx) {
      auto const color = ctx.rank() < 2 ? 0 : 1;
      auto team = ctx.split(color);
      std::uint64_t total = 0;
      skel::farm(
          team, skel::indices(60),
          [&](std::uint64_t i) {
            if (++begun == 20) job.kill(lost);
            return slow_work(i);
          },
          skel::schedule::first_come{}, skel::reduced(total, sum));
      if (team.is_root()) got[static_cast<std::size_t>(color)] = total;
    });
    for (int r = 0; r < 6; ++r) {
      CAPTURE(r);
      bool const without_root = lost == 2 && r >= 2;
      if (r == lost) continue;
      if (without_root)
        hub::check_thrown<skel::lost_rank_error>(job, r);
      else
        CHECK(job.error(r).empty());
    }
    CHECK(got[0] == expected_sum(60));
    if (lost != 2) CHECK(got[1] == expected_sum(60));
  }
}

TEST_CASE("invalid team lists are refused") {
  hub::job job(3);
  job.run_well([](skel::context& ctx) {
    auto const refused = [&](std::initializer_list<int> ranks, std::string const& what) {
      try {
        static_cast<void>(ctx.team(ranks));
        throw std::runtime_error("not refused");
      } catch (skel::usage_error const& e) {
        if (e.what() != what) throw std::runtime_error(e.what());
      }
    };
    auto const me = ctx.rank();
    refused({}, "context::team: a team needs at least one rank");
    refused({me, 3}, "context::team: ranks must be 0 to 2, found [" + std::to_string(me) + " 3]");
    refused({-1, me}, "context::team: ranks must be 0 to 2, found [-1 " + std::to_string(me) + "]");
    refused({me, me}, "context::team: rank " + std::to_string(me) + " is repeated in [" + std::to_string(me) +
                          " " + std::to_string(me) + "]");
    if (me > 0) refused({0}, "context::team: the calling rank " + std::to_string(me) + " is missing in [0]");
  });
}

TEST_CASE("ranks of a team that make different calls throw") {
  hub::job job(4);
  job.run([&](skel::context& ctx) {
    auto team = ctx.team({2 * (ctx.rank() / 2), 2 * (ctx.rank() / 2) + 1});
    farmed(team, ctx.rank() == 3 ? 11U : 10U);
  });
  for (int r : {0, 1}) CHECK(job.error(r).empty());
  for (int r : {2, 3}) {
    hub::check_thrown<skel::protocol_error>(job, r);
    CHECK(job.error(r).find("rank 1 made another skeleton call than the root: tasks 11 instead of 10") !=
          std::string::npos);
  }
}

TEST_CASE("ranks of one process count the ranks of their host") {
  hub::job shared(3, 1, std::size_t{1} << 30, {}, "one");
  shared.run_well([](skel::context& ctx) {
    if (ctx.local_rank() != ctx.rank() || ctx.local_size() != 3) throw std::runtime_error("one host");
    auto team = ctx.split(ctx.rank() % 2);
    if (team.local_size() != 3) throw std::runtime_error("a team on one host");
  });
  hub::job apart(2);
  apart.run_well([](skel::context& ctx) {
    if (ctx.local_rank() != 0 || ctx.local_size() != 1) throw std::runtime_error("a host each");
  });
}

TEST_CASE("a split without a rank that was thought lost is no mistake of that rank") {
  hub::job job(3, 1);
  std::atomic<int> split = 0;
  std::atomic<bool> late = false;
  job.run([&](skel::context& ctx) {
    if (ctx.is_root()) job.suspect(2);
    if (ctx.rank() < 2) {
      auto team = ctx.split(0);
      ++split;
      auto const wait = [&](std::uint64_t i) {  // the root answers messages meanwhile
        while (!late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return i;
      };
      skel::farm(team, skel::indices(2), wait, [](skel::task_id, std::uint64_t) {});
      return;
    }
    while (split < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job.heartbeat(2);
    try {
      std::ignore = ctx.split(0);
    } catch (...) {
      late = true;
      throw;
    }
  });
  CHECK(job.error(0).empty());
  CHECK(job.error(1).empty());
  hub::check_thrown<skel::lost_rank_error>(job, 2);
  CHECK(job.error(2) == "split: rank 2 was thought lost, and the others have gone on without it");
}
