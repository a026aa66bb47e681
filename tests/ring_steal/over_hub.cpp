// Whole ring_steal calls over several ranks in one process. Every tree must be counted exactly.
#include "over_hub.hpp"

#include <atomic>
#include <stdexcept>
#include <stop_token>

#include "engine/context_access.hpp"

using namespace steal_test;

TEST_CASE("a source may hold many tasks or none, or be replicated on every rank") {
  hub::job job(3, 2);
  std::atomic<std::uint64_t> many{0}, none{7}, same{0};
  job.run_well([&](skel::context& ctx) {
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
  tree const t{3};
  CHECK(many == count(t, {1, 0}) + count(t, {2, 1}) + count(t, {3, 2}));
  CHECK(none == 0);
  CHECK(same == many);
}

TEST_CASE("work spreads over all ranks") {
  hub::job job(4, 1);
  tree const t{6, 200};
  auto const report =
      job.on_root([&](skel::context& ctx) { return skel::ring_steal(ctx, root_node(), t).report; });
  CHECK(report.tasks == count(t));
  CHECK(report.steals.value_or(0) >= 3);
  for (auto const& row : report.per_rank) CHECK(row.tasks > 0);
}

TEST_CASE("a source or a merge that throws fails the call on every rank") {
  hub::job job(3, 1);
  job.all_throw<skel::source_error>([&](skel::context& ctx) {
    auto const open = []() -> std::vector<node> { throw std::runtime_error("no tree"); };
    skel::ring_steal(ctx, skel::on_root(open), tree{});
  });
  struct cannot_merge : tree {
    std::uint64_t merge(std::uint64_t, std::uint64_t) const { throw std::runtime_error("does not fit"); }
  };
  job.all_throw<skel::task_error>(
      [&](skel::context& ctx) { skel::ring_steal(ctx, root_node(), cannot_merge{}); });
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
  job.all_throw<skel::task_error>([&](skel::context& ctx) {
    std::stop_source found;
    skel::ring_steal(ctx, root_node(), throws_late{{30, 20, &started}, &found}, {.stop = found.get_token()});
  });
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
