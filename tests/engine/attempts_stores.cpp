// The root of a job with checkpoints dies: the next attempt goes on from what the store holds.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "attempts.hpp"
#include "bsp/over_hub.hpp"
#include "catch.hpp"
#include "disks/store_of_three.hpp"
#include "mpi/saving.hpp"
#include "ring_steal/over_hub.hpp"
#include "skel/skel.hpp"

namespace stores_test {

using namespace attempts_test;

namespace {

constexpr std::uint64_t tasks = 300;
thread_local int attempt_here = 0;
std::atomic<std::uint64_t> executed[4];  // by attempt
std::atomic<int> task_microseconds{300};

std::uint64_t work(std::uint64_t i) {
  ++executed[attempt_here];
  std::this_thread::sleep_for(std::chrono::microseconds(task_microseconds));
  return value_of(i);
}

// What the root of the last attempt has.
struct outcome {
  int attempt = 0, root = -1;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> cells;
  skel::report report;
  [[nodiscard]] std::uint64_t restored() const {
    REQUIRE(report.checkpoint);
    return report.checkpoint->restored_tasks;
  }
};

void begin(skel::context const& ctx) { attempt_here = ctx.attempt(); }

// A farm whose roots call `lose` at their 200th result.
outcome farm(job& j, test::temporary_directory const& root, skel::checkpoint_options const& options,
             std::function<void(skel::context&, int rank)> const& lose) {
  for (auto& n : executed) n = 0;
  outcome last;
  j.run([&](skel::context& ctx, int rank) {
    begin(ctx);
    std::uint64_t sum = 0, heard = 0;
    auto const [report] = skel::farm(
        ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
        [&](skel::task_id, std::uint64_t x) {
          sum += x;
          ++heard;
          if (heard == 100)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a checkpoint is due
          if (heard == 150 && ctx.attempt() == 1 && options.every_seconds < 1)
            test::wait_for_results_in(root.file(""));
          if (heard == 200) lose(ctx, rank);
        },
        skel::farm_options{.checkpoint = options, .task = {.run_once = true}});  // tests count runs of tasks
    if (ctx.is_root()) last = {ctx.attempt(), rank, sum, {}, report};
  });
  CHECK(last.sum == sum_of(tasks));
  return last;
}

skel::checkpoint_options on_disks(test::temporary_directory const& root) {
  test::store_of_three const names;
  auto c = names.options(false);
  c.store = {"ranks:" + root.file("%r")};
  c.every_seconds = 0.02;  // each takes many messages
  return c;
}

}  // namespace

TEST_CASE("a farm's root dies: what was saved is not computed again, whatever the resume mode") {
  using mode = skel::checkpoint_options::resume_mode;
  for (auto const m : {mode::no, mode::if_there}) {
    test::store_of_three const where;
    auto options = where.options(false);
    options.resume = m;
    job j(4);
    auto const last = farm(j, where.root, options, [&](skel::context& ctx, int rank) {
      if (ctx.attempt() == 1) j.end(rank);
    });
    CHECK(last.attempt == 2);
    CHECK(last.restored() > 0);
    CHECK(executed[2] <= tasks - last.restored());
  }
}

TEST_CASE("two roots die in a row: each attempt goes on from the checkpoints of those before") {
  test::store_of_three const where;
  job j(5);
  auto const last = farm(j, where.root, where.options(false), [&](skel::context& ctx, int rank) {
    if (ctx.attempt() < 3) j.end(rank);
  });
  CHECK(last.attempt == 3);
  CHECK(last.root == 2);
  CHECK(last.restored() > 0);
  CHECK(executed[3] <= tasks - last.restored());
}

TEST_CASE("a root that retires saves what it has, also what it has run itself: nothing is computed again") {
  for (bool const in_memory : {false, true})
    for (int const ranks : {3, 4}) {
      CAPTURE(in_memory, ranks);
      test::store_of_three const where;
      auto options = where.options(false);
      if (in_memory) options.store = {"memory"};
      options.every_seconds = 1000;  // only when it leaves
      job j(ranks);
      task_microseconds = 5000;
      auto const last = farm(j, where.root, options, [&](skel::context& ctx, int) {
        if (ctx.attempt() == 1) ctx.retire();
      });
      task_microseconds = 300;
      CHECK(last.attempt == 2);
      CHECK(executed[1] + executed[2] == tasks);
    }
}

TEST_CASE("a root that only hangs has left its store to the next attempt") {
  test::store_of_three const where;
  job j(3);
  auto const last = farm(j, where.root, where.options(false), [&](skel::context& ctx, int rank) {
    if (ctx.attempt() == 1) j.freeze(rank);
  });
  CHECK(last.attempt == 2);
  CHECK(last.restored() > 0);
  for (auto const& d : where.directories) CHECK_FALSE(std::filesystem::exists(d + "/.skel-claim"));
}

TEST_CASE("the ranks find their own disks again, and the code repairs the shards of the dead root") {
  test::temporary_directory const root;
  auto const options = on_disks(root);
  for (auto& n : executed) n = 0;
  std::uint64_t restored = 0, sums = 0;
  job j(3);
  j.remember = 0;
  j.run([&](skel::context& ctx, int rank) {
    begin(ctx);
    std::uint64_t sum = 0;
    auto const farm = [&](auto const& sink) {
      return skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{}, sink,
                        skel::farm_options{.checkpoint = options})
          .report;
    };
    auto const first = farm([&](skel::task_id, std::uint64_t x) { sum += x; });
    farm([&](skel::task_id, std::uint64_t x) {
      sum += x;
      if (ctx.attempt() > 1) return;
      std::filesystem::remove_all(root.file("0"));
      j.end(rank);
    });
    if (!ctx.is_root()) return;
    restored = first.checkpoint->restored_tasks;
    sums = sum;
  });
  CHECK(sums == 2 * sum_of(tasks));
  CHECK(restored == tasks);
  CHECK(executed[2] <= tasks);
  auto const holds = [&](char const* disk) { return !std::filesystem::is_empty(root.file(disk)); };
  CHECK(holds("1"));
  CHECK(holds("2"));
}

TEST_CASE("a store of which too much is lost: the call starts anew") {
  for (bool const central : {true, false}) {
    CAPTURE(central);
    test::store_of_three const where;
    auto options = where.options(false);
    if (central) {
      options.store = {"rank:0:" + where.root.file("%r")};
      options.code = "replicate:1";
    } else {
      options.every_seconds = 1000;
    }
    job j(3);
    j.remember = 0;
    auto const last = farm(j, where.root, options, [&](skel::context& ctx, int rank) {
      if (ctx.attempt() > 1) return;
      if (central) j.end(rank);
      for (int const i : {0, 1})
        for (auto const& f : std::filesystem::directory_iterator(where.directories[i]))
          std::filesystem::remove(f.path());
      j.freeze(rank);
    });
    CHECK(last.attempt == 2);
    CHECK(last.restored() == 0);
    CHECK(executed[2] == tasks);
    CHECK(last.report.checkpoint->saved > 0);
  }
}

TEST_CASE("a root dies before it opens the store of another run: the next attempt is refused as well") {
  test::store_of_three const where;
  auto const options = where.options(false);
  auto const count = [](skel::task_id, std::uint64_t) {};
  {
    job earlier(2);
    earlier.run([&](skel::context& ctx, int) {
      skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{}, count,
                 skel::farm_options{.checkpoint = options});
    });
  }
  job j(3);
  std::atomic<int> second{0};
  j.run([&](skel::context& ctx, int rank) {
    if (ctx.is_root() && ctx.attempt() == 1) j.end(rank);
    if (ctx.attempt() == 2) ++second;
    skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{}, count,
               skel::farm_options{.checkpoint = options});
  });
  CHECK(second == 2);
  CHECK(j.codes[1] == 2);
  CHECK(j.codes[2] == 2);
}

TEST_CASE(
    "if no rank hears of the store before its root dies, the next attempt opens it like the first one") {
  using mode = skel::checkpoint_options::resume_mode;
  for (auto const m : {mode::no, mode::if_there}) {
    test::store_of_three const where;
    auto options = where.options(false);
    options.resume = m;
    job j(3);
    outcome last;
    std::atomic<int> second{0};
    j.run([&](skel::context& ctx, int rank) {
      begin(ctx);
      auto const attempt = ctx.attempt();
      if (attempt == 2) ++second;
      if (rank == 0) j.cut_before(1);
      std::uint64_t sum = 0, heard = 0;
      auto const [report] = skel::farm(
          ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
          [&](skel::task_id, std::uint64_t x) {
            sum += x;
            if (++heard == 10 && attempt == 1) j.end(rank);
          },
          skel::farm_options{.checkpoint = options});
      if (ctx.is_root()) last = {attempt, rank, sum, {}, report};
    });
    CHECK(second == 2);
    CHECK(last.attempt == (m == mode::no ? 0 : 2));
    if (m == mode::if_there) CHECK(last.sum == sum_of(tasks));
    CHECK(j.codes[1] == (m == mode::no ? 2 : 0));
    CHECK(j.codes[2] == j.codes[1]);
  }
}

// Another process holds it: the ranks of this test share one.
TEST_CASE("another job's claim is not taken over, also if it came when the root died") {
  for (bool const had_it : {false, true}) {
    CAPTURE(had_it);
    test::store_of_three const where;
    auto const path = where.directories[0] + "/.skel-claim";
    std::string const words = "elsewhere, process 1, since 2026-05-04 12:00:00";
    int foreign = -1;
    auto const claim = [&] {
      foreign = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      REQUIRE(foreign >= 0);
      REQUIRE(::flock(foreign, LOCK_EX) == 0);
      test::write_file(path, words);
    };
    if (!had_it) claim();
    job j(2);
    j.run([&](skel::context& ctx, int rank) {
      begin(ctx);
      auto const attempt = ctx.attempt();
      if (attempt == 1 && rank == 0 && !had_it) j.end(rank);
      if (attempt == 2 && had_it) {
        for (int i = 0; i < 1000 && std::filesystem::exists(path); ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        claim();
      }
      std::uint64_t heard = 0;
      skel::farm(
          ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
          [&](skel::task_id, std::uint64_t) {
            if (++heard == 100 && attempt == 1) j.end(rank);
          },
          skel::farm_options{.checkpoint = where.options(false)});
    });
    CHECK(j.codes[1] == 2);
    CHECK(test::read_file(path) == words);
    ::close(foreign);
  }
}

TEST_CASE("a root dies because the store is of another run: the next attempt is refused as well") {
  test::store_of_three const where;
  auto const count = [](skel::task_id, std::uint64_t) {};
  auto const run = [&](skel::context& ctx, std::string const& problem, bool resumes) {
    skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{}, count,
               skel::farm_options{.checkpoint = where.options(resumes, problem)});
  };
  {
    job earlier(2);
    earlier.run([&](skel::context& ctx, int) { run(ctx, "another", false); });
  }
  auto const content = [&] {
    std::string all;
    for (auto const& d : where.directories) {
      std::set<std::string> files;
      for (auto const& f : std::filesystem::directory_iterator(d)) files.insert(f.path().string());
      for (auto const& f : files) all += f + "\n" + test::read_file(f);
    }
    return all;
  };
  auto const before = content();
  job j(3);
  std::atomic<int> refused{0};
  j.run([&](skel::context& ctx, int rank) {
    begin(ctx);
    auto const attempt = ctx.attempt();
    try {
      run(ctx, "this one", true);
    } catch (skel::usage_error const&) {
      ++refused;
      if (attempt == 1) j.end(rank);
      throw;
    }
  });
  CHECK(refused == 2);
  CHECK(j.codes[1] == 2);
  CHECK(j.codes[2] == 2);
  CHECK(content() == before);
}

TEST_CASE("in the memory of the ranks, a state outlives two roots, and nothing is left for another job") {
  test::store_of_three const where;
  auto options = where.options(false);
  options.store = {"memory"};
  for (int const ranks : {5, 3}) {
    job j(ranks);
    unsigned const last = ranks == 5 ? 3 : 2;
    std::vector<std::uint64_t> cells;
    std::array<std::atomic<std::uint64_t>, 4> first_step{};
    int last_attempt = 0;
    j.run([&](skel::context& ctx, int rank) {
      bsp_test::splitting_circle c;
      auto const attempt = static_cast<unsigned>(ctx.attempt());
      c.event = [&, attempt, rank, is_root = ctx.is_root()](int place, std::uint64_t n) {
        if (place != 0) return;
        if (first_step.at(attempt) == 0) first_step.at(attempt) = n + 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        if (is_root && attempt < last && n == 2 + 12 * attempt) j.end(rank);
      };
      auto const made = skel::bsp(ctx, c, skel::bsp_options{.checkpoint = options});
      if (!ctx.is_root()) return;
      cells = made.value.whole;
      last_attempt = ctx.attempt();
    });
    CHECK(last_attempt == static_cast<int>(last));
    CHECK(cells == bsp_test::expected());
    CHECK(first_step[1] == 1);
    CHECK(first_step[2] > 1);  // on a loaded machine a checkpoint takes many supersteps
    if (last == 3) CHECK(first_step[3] >= first_step[2]);
  }
}

TEST_CASE("the calls that have ended are restored, and the one in progress goes on") {
  for (bool const splits : {true, false})
    for (int const dies_in : {2, 3, 4}) {
      CAPTURE(splits, dies_in);
      for (auto& n : executed) n = 0;
      test::store_of_three const where;
      auto const checkpoint = where.options(false);
      job j(4);
      outcome last;
      std::atomic<std::uint64_t> first_step{0};
      std::uint64_t counted = 0, restored_farm = 0;
      j.run([&](skel::context& ctx, int rank) {
        begin(ctx);
        auto const die_in = [&, attempt = ctx.attempt(), is_root = ctx.is_root()](int call) {
          if (is_root && attempt == 1 && call == dies_in) j.end(rank);
        };
        std::uint64_t sum = 0;
        auto const [report] = skel::farm(
            ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
            [&](skel::task_id, std::uint64_t x) { sum += x; }, skel::farm_options{.checkpoint = checkpoint});
        if (ctx.is_root()) restored_farm = report.checkpoint->restored_tasks;

        auto const run_circle = [&]<class Circle>(Circle c) {
          c.event = [&, attempt = ctx.attempt()](int place, std::uint64_t n) {
            if (place != 0) return;
            if (attempt == 2 && first_step == 0) first_step = n + 1;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (n == 20) die_in(2);
          };
          return skel::bsp(ctx, c, skel::bsp_options{.checkpoint = checkpoint});
        };
        auto const keep_cells = [&](auto const& made) {
          if (ctx.is_root()) last.cells = made.value.whole;
        };
        if (splits)
          keep_cells(run_circle(bsp_test::splitting_circle{}));
        else
          keep_cells(run_circle(bsp_test::circle{}));

        steal_test::tree const t{8, 20};
        auto const found = skel::ring_steal(ctx, steal_test::root_node(), t, skel::schedule::stealing{},
                                            skel::ring_steal_options{.checkpoint = checkpoint});
        die_in(3);
        std::uint64_t again = 0;
        skel::farm(
            ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
            [&](skel::task_id, std::uint64_t x) {
              again += x;
              die_in(4);
            },
            skel::farm_options{.checkpoint = checkpoint, .task = {.run_once = true}});
        if (!ctx.is_root()) return;
        CHECK(sum == sum_of(tasks));
        CHECK(again == sum_of(tasks));
        counted = found.value;
        last.attempt = ctx.attempt();
        last.report = found.report;
      });
      CHECK(last.attempt == 2);
      CHECK(restored_farm == tasks);
      CHECK(executed[2] <= tasks);  // those of the last farm
      CHECK(last.cells == bsp_test::expected());
      CHECK(counted == steal_test::count(steal_test::tree{8, 20}));
      CHECK((first_step > 1) == splits);
      if (dies_in > 2) CHECK(last.restored() == counted);
    }
}

}  // namespace stores_test
