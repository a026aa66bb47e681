// ring_steal calls that end early and calls that resume them. The count stays the same and no node is
// counted twice.
#include <functional>
#include <stop_token>
#include <string>

#include "disks/store_of_three.hpp"
#include "over_hub.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/storage/repository.hpp"

using namespace steal_test;
using test::store_of_three;

namespace {

struct outcome {
  std::uint64_t result = 0;
  std::uint64_t started = 0;  // number of tasks
  skel::report report;
  std::vector<std::string> errors;
  [[nodiscard]] std::uint64_t restored() const {
    REQUIRE(report.checkpoint);
    return report.checkpoint->restored_tasks;
  }
};

// Runs a search that ends early after about `most` tasks.
outcome search(int ranks, int threads, tree t, skel::ring_steal_options options, int most = 1 << 30,
               std::function<void(hub::job&, std::atomic<int>&)> const& trouble = {},
               skel::schedule::stealing const& how = {}) {
  outcome all;
  std::atomic<int> started{0};
  std::atomic<bool> over{false};
  t.started = &started;
  std::stop_source stop;
  options.stop = stop.get_token();
  hub::job job(ranks, threads);
  std::thread watcher([&] {
    if (trouble) trouble(job, started);
    while (started < most && !over) std::this_thread::yield();
    stop.request_stop();
  });
  job.run([&](skel::context& ctx) {
    struct at_end {
      bool mine;
      std::atomic<bool>& over;
      ~at_end() {
        if (mine) over = true;
      }
    } const end{ctx.is_root(), over};
    auto const found = skel::ring_steal(ctx, root_node(), t, how, options);
    if (!ctx.is_root()) return;
    all.result = found.value;
    all.report = found.report;
  });
  watcher.join();
  all.started = static_cast<std::uint64_t>(started);
  for (int r = 0; r < ranks; ++r) all.errors.push_back(job.error(r));
  return all;
}

skel::ring_steal_options options_for(store_of_three const& where, bool resume) {
  return {.checkpoint = where.options(resume)};
}

}  // namespace

TEST_CASE("a search resumes an earlier one, on any number of ranks and threads") {
  struct trial {
    int ranks, threads, later, threads_later;
    skel::schedule::steal_size take;
  };
  tree const t{8, 20};
  auto const whole = count(t);
  for (auto const& x : {trial{1, 1, 1, 1, skel::schedule::steal_size::half},
                        trial{1, 2, 3, 1, skel::schedule::steal_size::half},
                        trial{4, 1, 2, 2, skel::schedule::steal_size::one},
                        trial{3, 2, 1, 1, skel::schedule::steal_size::half},
                        trial{2, 1, 5, 1, skel::schedule::steal_size::one}}) {
    INFO(x.ranks << " ranks, then " << x.later);
    store_of_three const where;
    auto const first = search(x.ranks, x.threads, t, options_for(where, false), 300, {}, {x.take});
    for (auto const& e : first.errors) CHECK(e.empty());
    CHECK(first.report.stopped_early);
    CHECK(first.result == first.started);
    CHECK(first.report.tasks == first.started);  // an early end loses no result
    CHECK(first.report.checkpoint->saved >= 2);  // one before any task has begun, and the last
    auto const second = search(x.later, x.threads_later, t, options_for(where, true), 1 << 30, {}, {x.take});
    for (auto const& e : second.errors) CHECK(e.empty());
    CHECK(second.restored() == first.started);
    CHECK(second.started + second.restored() == whole);
    CHECK(second.report.tasks == whole);
    CHECK(second.result == whole);
  }
}

TEST_CASE("a search may start or resume") {
  tree const t{8, 20};
  store_of_three const where;
  auto options = options_for(where, false);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  for (bool const later : {false, true}) {
    auto const s = search(2, 1, t, options);
    for (auto const& e : s.errors) CHECK(e.empty());
    CHECK(s.result == count(t));
    CHECK(s.started == (later ? 0 : count(t)));
  }
}

TEST_CASE("a search that is interrupted repeatedly completes") {
  store_of_three const where;
  tree const t{8, 10};
  std::uint64_t done = 0;
  outcome latest;
  for (int turn = 0; turn < 20; ++turn) {
    latest = search(1 + turn % 4, 1, t, options_for(where, turn > 0), 200);
    for (auto const& e : latest.errors) CHECK(e.empty());
    CHECK(latest.restored() == done);
    done += latest.started;
    if (!latest.report.stopped_early) break;
  }
  CHECK(latest.result == count(t));
  CHECK(done == count(t));
}

TEST_CASE("a completed search is not run again") {
  store_of_three const where;
  tree const t{6, 0};
  for (bool resume : {false, true}) {
    auto const s = search(3, 1, t, options_for(where, resume));
    CHECK(s.result == count(t));
    CHECK(s.started == (resume ? 0 : count(t)));
  }
}

TEST_CASE("a run resumes from the last checkpoint before a task threw") {
  struct thrower : tree {
    int bad = 0;
    void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
      tree::run(n, more, sum);
      if (*started >= bad) throw std::runtime_error("no luck");
    }
  };
  store_of_three const where;
  std::atomic<int> started{0};
  thrower const t{{8, 100, &started}, 900};
  {
    hub::job job(3, 1);  // has the store until it ends
    job.all_throw<skel::task_error>(
        [&](skel::context& ctx) { skel::ring_steal(ctx, root_node(), t, options_for(where, false)); });
  }
  auto const later = search(2, 1, tree{8, 0}, options_for(where, true));
  CHECK(later.result == count(tree{8}));
  CHECK(later.restored() > 0);
  CHECK(later.started + later.restored() == count(tree{8}));
}

TEST_CASE("losses and false suspicions change neither the count nor the checkpoint") {
  tree const t{8, 30};
  auto const whole = count(t);
  for (int turn = 0; turn < 6; ++turn) {
    INFO("turn " << turn);
    store_of_three const where;
    auto const trouble = [&](hub::job& job, std::atomic<int>& started) {
      while (started < 50 + 60 * turn) std::this_thread::yield();
      if (turn % 2 == 0) {
        job.kill(2);
        return;
      }
      job.suspect(0, 1);
      std::this_thread::sleep_for(std::chrono::microseconds(700));
      job.heartbeat(1, 0);
    };
    bool const ends_early = turn % 3 != 0;
    auto const first =
        search(4, 1 + turn % 2, t, options_for(where, false), ends_early ? 600 : 1 << 30, trouble);
    CHECK(first.errors[0].empty());
    if (!ends_early) CHECK(first.result == whole);
    auto const second = search(3, 1, t, options_for(where, true));
    for (auto const& e : second.errors) CHECK(e.empty());
    CHECK(second.result == whole);
    CHECK(second.restored() + second.started == whole);
    if (!ends_early) CHECK(second.started == 0);
  }
}

TEST_CASE("a long task does not delay checkpoints") {
  store_of_three const where;
  skel::storage::repository_options in_store;
  for (auto const& d : where.directories) in_store.places.push_back({d});
  skel::storage::repository const store(in_store);
  // The slow task runs until five checkpoints are written. The other tasks are slowed down until then,
  // because without new results no checkpoint is due; a busy machine behaves the same way.
  struct one_is_slow : tree {
    void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
      bool const waits = n.depth == 1 && !slow->exchange(true);
      auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (store->next(1).generation <= 5 && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!waits) break;
      }
      tree::run(n, more, sum);
    }
    skel::storage::repository const* store = nullptr;
    std::atomic<bool>* slow = nullptr;
  };
  std::atomic<bool> slow{false};
  one_is_slow t{{7, 100}, &store, &slow};
  hub::job job(1, 2);
  skel::report report;
  std::uint64_t got = 0;
  job.run([&](skel::context& ctx) {
    auto const all = skel::ring_steal(ctx, root_node(), t, options_for(where, false));
    got = all.value;
    report = all.report;
  });
  CHECK(job.error(0).empty());
  CHECK(got == count(t));
  REQUIRE(report.checkpoint);
  CHECK(report.checkpoint->saved >= 4);
}

TEST_CASE("a merge that throws while a statement is made fails the call on every rank") {
  struct cannot_merge : tree {
    std::uint64_t merge(std::uint64_t, std::uint64_t) const { throw std::runtime_error("does not fit"); }
  };
  store_of_three const where;
  hub::job job(3, 1);
  job.all_throw<skel::task_error>([&](skel::context& ctx) {
    skel::ring_steal(ctx, root_node(), cannot_merge{{8, 50}}, options_for(where, false));
  });
}

TEST_CASE("an empty, foreign, farm's or unrequested store is refused in one line") {
  store_of_three const where;
  tree const t{5};
  auto const refusal = [&](skel::ring_steal_options const& options) {
    auto const s = search(1, 1, t, options);
    CHECK(s.started == 0);
    CHECK(s.errors[0].find('\n') == std::string::npos);
    return where.without_path(s.errors[0]);
  };
  CHECK(refusal(options_for(where, true)) == "there is no checkpoint to resume from in a, b, c");
  CHECK(search(2, 1, t, options_for(where, false)).result == count(t));
  CHECK(refusal(options_for(where, false)) ==
        "there is a checkpoint in a, b, c already: resume it (--resume), or empty the directories");
  auto other = options_for(where, true);
  other.checkpoint->problem = "another tree";
  CHECK(refusal(other).find("use another store") != std::string::npos);
  store_of_three const of_farm;
  hub::job job(1);
  job.run([&](skel::context& ctx) {
    std::vector<int> got;
    skel::farm_options options;
    options.checkpoint = of_farm.options(false);
    skel::farm(
        ctx, skel::indices(3), [](std::uint64_t i) { return static_cast<int>(i); }, skel::schedule::guided{},
        skel::into(got), options);
  });
  CHECK(job.error(0).empty());
  CHECK(refusal(options_for(of_farm, true)).find("use another store") != std::string::npos);
}
