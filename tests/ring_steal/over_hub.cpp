// Whole ring_steal calls over several ranks in one process. Every tree must be counted exactly.
#include "over_hub.hpp"

#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "engine/context_access.hpp"

using namespace steal_test;

TEST_CASE("every node is counted once, on any number of ranks and threads") {
  for (int ranks : {1, 2, 3, 5, 8})
    for (int threads : {1, 2}) {
      hub::job job(ranks, threads);
      for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one})
        for (std::uint32_t depth : {0U, 1U, 6U, 11U}) {
          tree const t{depth};
          std::vector<std::uint64_t> got(static_cast<std::size_t>(ranks));
          skel::report report;
          job.run([&](skel::context& ctx) {
            auto const all = skel::ring_steal(ctx, root_node(), t, {.take = take});
            got[static_cast<std::size_t>(ctx.rank())] = all.value;
            if (ctx.is_root()) report = all.report;
          });
          INFO(ranks << " ranks, " << threads << " threads, depth " << depth);
          for (int r = 0; r < ranks; ++r) CHECK(job.error(r).empty());
          CHECK(got == std::vector<std::uint64_t>(static_cast<std::size_t>(ranks), count(t)));
          CHECK(report.tasks == count(t));
          CHECK(report.skeleton == "ring_steal");
          CHECK(report.per_rank.size() == static_cast<std::size_t>(ranks));
        }
    }
}

TEST_CASE("a source may hold many tasks or none, or be replicated on every rank") {
  hub::job job(3, 2);
  std::atomic<std::uint64_t> many{0}, none{7}, same{0};
  job.run([&](skel::context& ctx) {
    tree const t{3};
    std::vector<node> roots{{1, 0}, {2, 1}, {3, 2}};
    auto const from_root = skel::ring_steal(ctx, skel::on_root([&] { return roots; }), t);
    auto const empty = skel::ring_steal(ctx, skel::on_root([] { return std::vector<node>{}; }), t);
    auto const list = skel::ring_steal(ctx, skel::replicated(roots), t);
    if (ctx.rank() != 2) return;
    many = from_root.value;
    none = empty.value;
    same = list.value;
  });
  for (int r = 0; r < 3; ++r) CHECK(job.error(r).empty());
  tree const t{3};
  CHECK(many == count(t, {1, 0}) + count(t, {2, 1}) + count(t, {3, 2}));
  CHECK(none == 0);
  CHECK(same == many);
}

TEST_CASE("work spreads over all ranks") {
  hub::job job(4, 1);
  tree const t{6, 200};
  skel::report report;
  job.run([&](skel::context& ctx) {
    auto const all = skel::ring_steal(ctx, root_node(), t);
    if (ctx.is_root()) report = all.report;
  });
  CHECK(report.tasks == count(t));
  CHECK(report.steals.value_or(0) >= 3);
  for (auto const& row : report.per_rank) CHECK(row.tasks > 0);
}

TEST_CASE("a task that throws fails the call on every rank, and the next call works") {
  for (int threads : {1, 2})
    for (int bad : {1, 40, 200}) {
      hub::job job(3, threads);
      std::atomic<int> started{0};
      struct thrower : tree {
        int bad;
        void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
          tree::run(n, more, sum);
          if (*started >= bad) throw std::runtime_error("no luck");
        }
      };
      thrower const t{{8, 20, &started}, bad};
      job.run([&](skel::context& ctx) { skel::ring_steal(ctx, root_node(), t); });
      for (int r = 0; r < 3; ++r) {
        hub::check_thrown<skel::task_error>(job, r);
        CHECK(job.error(r) == job.error(0));
        CHECK(job.error(r).find("no luck") != std::string::npos);
      }
      std::atomic<std::uint64_t> got{0};
      job.run([&](skel::context& ctx) { got = skel::ring_steal(ctx, root_node(), tree{5}).value; });
      CHECK(got == count(tree{5}));
    }
}

TEST_CASE("a source or a merge that throws fails the call on every rank") {
  hub::job job(3, 1);
  job.run([&](skel::context& ctx) {
    auto const open = []() -> std::vector<node> { throw std::runtime_error("no tree"); };
    skel::ring_steal(ctx, skel::on_root(open), tree{});
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::source_error>(job, r);
  struct cannot_merge : tree {
    std::uint64_t merge(std::uint64_t, std::uint64_t) const { throw std::runtime_error("does not fit"); }
  };
  job.run([&](skel::context& ctx) { skel::ring_steal(ctx, root_node(), cannot_merge{}); });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::task_error>(job, r);
}

TEST_CASE("a rank that makes a different call is named in the error") {
  hub::job job(3);
  job.run([&](skel::context& ctx) {
    skel::ring_steal(
        ctx, root_node(), tree{9, 20},
        {.take = ctx.rank() == 2 ? skel::schedule::steal_size::one : skel::schedule::steal_size::half});
  });
  for (int r = 0; r < 3; ++r) {
    CHECK(job.error(r).find("rank 2 made another skeleton call") != std::string::npos);
    hub::check_thrown<skel::protocol_error>(job, r);
  }
}

TEST_CASE("a call ends early on a stop token or a time limit") {
  hub::job job(3);
  std::atomic<int> stopped{0};
  job.run([&](skel::context& ctx) {
    skel::ring_steal_options options;
    options.time_limit_seconds = 0.03;
    auto const all = skel::ring_steal(ctx, root_node(), tree{40, 100}, options);
    stopped += all.report.stopped_early && all.value == all.report.tasks && all.value > 0 ? 1 : 0;
  });
  for (int r = 0; r < 3; ++r) CHECK(job.error(r).empty());
  CHECK(stopped == 3);
}

namespace {

// Counts nodes in the lower half of the result and solutions in the upper half. The first solution stops
// the run on the rank that finds it.
struct first_solution : tree {
  int last = 0;  // number of nodes that start before the first solution
  std::stop_source found{};
  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    tree::run(n, more, sum);
    if (*started < last || found.stop_requested()) return;
    sum += std::uint64_t{1} << 32;
    std::stop_source(found).request_stop();
  }
};

}  // namespace

TEST_CASE("a search that stops at its first solution returns it and the result of every task that ran") {
  for (int ranks : {1, 3, 4})
    for (int threads : {1, 2})
      for (auto const take : {skel::schedule::steal_size::half, skel::schedule::steal_size::one}) {
        INFO(ranks << " ranks, " << threads << " threads");
        hub::job job(ranks, threads);
        std::atomic<int> started{0};
        std::vector<std::uint64_t> got(static_cast<std::size_t>(ranks));
        std::atomic<int> early{0};
        std::atomic<std::uint64_t> tasks{0};
        job.run([&](skel::context& ctx) {
          first_solution const search{{30, 20, &started}, 300};
          auto const all =
              skel::ring_steal(ctx, root_node(), search, {.take = take, .stop = search.found.get_token()});
          got[static_cast<std::size_t>(ctx.rank())] = all.value;
          early += all.report.stopped_early ? 1 : 0;
          if (ctx.is_root()) tasks = all.report.tasks;
        });
        for (int r = 0; r < ranks; ++r) CHECK(job.error(r).empty());
        CHECK(early == ranks);
        CHECK(got == std::vector<std::uint64_t>(static_cast<std::size_t>(ranks), got[0]));
        CHECK(got[0] % (std::uint64_t{1} << 32) == static_cast<std::uint64_t>(started));
        CHECK(got[0] >> 32 >= 1);
        CHECK(tasks == static_cast<std::uint64_t>(started));
      }
}

TEST_CASE("a task that throws while the run stops fails the call with its error") {
  hub::job job(3);
  struct throws_late : tree {
    std::stop_source* found;
    void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
      tree::run(n, more, sum);
      if (*started < 200) return;
      found->request_stop();
      throw std::runtime_error("too late");
    }
  };
  std::atomic<int> started{0};
  job.run([&](skel::context& ctx) {
    std::stop_source found;
    skel::ring_steal(ctx, root_node(), throws_late{{30, 20, &started}, &found}, {.stop = found.get_token()});
  });
  for (int r = 0; r < 3; ++r) hub::check_thrown<skel::task_error>(job, r);
}

TEST_CASE("the loss of any ranks but the root does not change the count") {
  for (int turn = 0; turn < 12; ++turn) {
    hub::job job(4, 1 + turn % 2);
    std::atomic<int> started{0};
    tree const t{8, 30, &started};
    auto const expected = count(t);
    std::atomic<bool> over{false};
    std::thread killer([&] {
      for (int r : {2, 3, 1}) {
        auto const after = started + 10 + 40 * turn;
        while (started < after && !over) std::this_thread::yield();
        if (over) return;
        job.kill(r);
        if (turn % 3 == 0 && r == 3) return;
      }
    });
    std::uint64_t got = 0, again = 0;
    job.run([&](skel::context& ctx) {
      // Ranks die within milliseconds, as if the tasks they take over killed them.
      auto const all = skel::ring_steal(ctx, root_node(), t, {.max_losses_per_task = 0});
      if (!ctx.is_root()) return;
      over = true;
      got = all.value;
      again = all.report.tasks_handed_out_again;
    });
    killer.join();
    INFO("turn " << turn << ", " << again << " loans taken back");
    CHECK(job.error(0).empty());
    CHECK(got == expected);
  }
}

namespace {

struct numbers {
  using task = std::uint64_t;
  using result = std::uint64_t;
  std::atomic<int>* on_victim;
  void run(std::uint64_t i, skel::spawner<std::uint64_t>& /*more*/, std::uint64_t& sum,
           skel::worker_info const& where) const {
    if (where.rank == 1) ++*on_victim;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    sum += i;
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace

TEST_CASE("a lost loan of more tasks than parcels is counted once") {
  constexpr std::uint64_t tasks = 3000;
  hub::job job(3, 1);
  std::atomic<int> on_victim{0};
  std::thread killer([&] {
    while (on_victim < 20) std::this_thread::yield();
    job.kill(1);
  });
  std::uint64_t sum = 0, again = 0;
  job.run([&](skel::context& ctx) {
    auto const all = skel::ring_steal(ctx, skel::indices(tasks), numbers{&on_victim});
    if (!ctx.is_root()) return;
    sum = all.value;
    again = all.report.tasks_handed_out_again;
  });
  killer.join();
  CHECK(job.error(0).empty());
  CHECK(sum == tasks * (tasks - 1) / 2);
  CHECK(again > 0);
}

TEST_CASE("false suspicions do not change the count") {
  for (int turn = 0; turn < 6; ++turn) {
    hub::job job(3, 1);
    tree const t{7, 20};
    std::atomic<bool> over{false}, quiet{false};
    std::thread trouble([&] {
      for (int i = 0; i < 20 && !over; ++i) {
        int const who = i % 3, rank = 1 + (i + 1 + turn) % 2;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (who == rank) continue;
        job.suspect(who, rank);
        std::this_thread::sleep_for(std::chrono::microseconds(700));
        job.heartbeat(rank, who);
      }
      quiet = true;
    });
    std::uint64_t got = 0;
    job.run([&](skel::context& ctx) {
      auto const all = skel::ring_steal(ctx, root_node(), t);
      if (!ctx.is_root()) return;
      over = true;
      got = all.value;
      // Like the farewell of run_main: a suspect that is heard late still learns that the call has ended.
      for (int i = 0; i < 20 || !quiet; ++i) {
        static_cast<void>(skel::detail::context_access::engine_of(ctx).driver().try_progress(0));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    trouble.join();
    CHECK(job.error(0).empty());
    CHECK(got == count(t));
  }
}

TEST_CASE("the other ranks throw when the root is lost") {
  hub::job job(3);
  std::atomic<int> started{0};
  tree const t{40, 50, &started};
  std::thread killer([&] {
    while (started < 100) std::this_thread::yield();
    for (int r : {1, 2}) job.suspect(r, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int r : {1, 2}) job.suspect(0, r);
  });
  job.run([&](skel::context& ctx) {
    skel::ring_steal_options options;
    if (ctx.is_root()) options.time_limit_seconds = 1.0;
    skel::ring_steal(ctx, root_node(), t, options);
  });
  killer.join();
  for (int r : {1, 2}) hub::check_thrown<skel::lost_rank_error>(job, r);
}
