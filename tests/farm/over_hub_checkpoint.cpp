// Farms that end early, and others that resume them: finished tasks do not run again.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <stop_token>
#include <thread>

#include "disks/store_of_three.hpp"
#include "over_hub.hpp"
#include "skel/error.hpp"
#include "skel/storage/repository.hpp"

using namespace farm_test;

namespace {

constexpr std::uint64_t all_tasks = 160;

struct store : test::store_of_three {
  [[nodiscard]] skel::farm_options options(bool resume, std::string const& problem = "numbers") const {
    skel::farm_options o;
    o.checkpoint = store_of_three::options(resume, problem);
    return o;
  }
};

struct seen {
  std::vector<std::uint64_t> got = std::vector<std::uint64_t>(all_tasks);
  std::set<std::uint64_t> run;  // tasks whose function was called
  std::mutex lock;
  skel::report report;
  std::uint64_t sunk = 0, sunk_at_open = 0;  // results in the sink; also when a stream was opened
  std::vector<std::string> errors;
};

// Strings, so that results differ in length. The sink ends the run after `most` results.
struct trial {
  skel::any_schedule how;
  bool concentrated = false, stream = false, ordered = false, serves = false;
  std::uint64_t most = ~std::uint64_t{0};
  std::function<double(skel::task_id)> cost{}, cost_later{};  // in the first run, and in the second
};

void run(seen& s, int ranks, trial const& t, skel::farm_options options) {
  if (t.concentrated) options.results = skel::results::concentrated();
  if (t.serves) options.root_works = false;
  options.task.cost = t.cost;
  hub::job job(ranks, 2);
  job.run([&](skel::context& ctx) {
    auto const f = [&](std::uint64_t i) {
      {
        std::lock_guard const guard(s.lock);
        s.run.insert(i);
      }
      return std::to_string(slow_work(i));
    };
    auto const sink = [&](skel::task_id id, std::string&& text) {
      s.got.at(id) = std::stoull(text);
      if (t.stream)
        std::this_thread::sleep_for(std::chrono::microseconds(50));  // for another thread to open it
      return ++s.sunk == t.most ? skel::results::flow::stop : skel::results::flow::go_on;
    };
    auto const call = [&](auto source) {
      auto const r = t.ordered ? skel::farm(ctx, source, f, t.how, skel::ordered(sink), options).report
                               : skel::farm(ctx, source, f, t.how, sink, options).report;
      if (ctx.is_root()) s.report = r;
    };
    if (t.stream)
      call(skel::on_root([&] {
        s.sunk_at_open = s.sunk;
        return counting(all_tasks).open();
      }));
    else
      call(skel::indices(all_tasks));
  });
  for (int r = 0; r < ranks; ++r) s.errors.push_back(job.error(r));
}

void check_goes_on(trial t, int ranks, int ranks_later) {
  INFO(t.how.to_string() << (t.concentrated ? ", concentrated" : "") << (t.stream ? ", stream" : "")
                         << (t.ordered ? ", ordered" : "") << ", " << ranks << " ranks, then "
                         << ranks_later);
  store const where;
  seen first, second;
  t.most = 60;
  run(first, ranks, t, where.options(false));
  for (auto const& e : first.errors) CHECK(e.empty());
  REQUIRE(first.report.checkpoint);
  CHECK(first.report.checkpoint->restored_tasks == 0);
  CHECK(first.report.checkpoint->saved >= 2);  // the first one, which is empty, and the last
  t.most = ~std::uint64_t{0};
  t.cost = t.cost_later;
  run(second, ranks_later, t, where.options(true));
  for (auto const& e : second.errors) CHECK(e.empty());
  CHECK(second.got == expected(all_tasks));
  CHECK(second.sunk == all_tasks);
  REQUIRE(second.report.checkpoint);
  auto const restored = second.report.checkpoint->restored_tasks;
  CHECK(restored >= 60);  // results that the sink received, and those that waited for it
  CHECK(second.run.size() + restored == all_tasks);
  if (t.stream && !t.ordered) CHECK(second.sunk_at_open == restored);
  for (auto const id : second.run) CHECK(id < all_tasks);
  // Tasks whose results the first run's sink received do not run again.
  std::uint64_t again = 0;
  for (std::uint64_t i = 0; i < all_tasks; ++i) again += first.got[i] != 0 && second.run.contains(i);
  CHECK(again == 0);
}

std::string refusal(store const& where, skel::farm_options const& options) {
  seen s;
  run(s, 1, {}, options);  // run_main would inform other ranks
  CHECK(s.run.empty());
  CHECK(s.errors.at(0).find('\n') == std::string::npos);
  return where.without_path(s.errors.at(0));
}

}  // namespace

TEST_CASE("a farm resumes an earlier one, under every schedule") {
  int ranks = 1;
  for (auto const& how : schedules()) {
    check_goes_on({how, false}, ranks, 1 + ranks % 4);
    ranks = 1 + (ranks + 1) % 4;
  }
}

TEST_CASE("a farm may start or resume, under every schedule") {
  for (auto const& how : schedules()) {
    store const where;
    auto options = where.options(false);
    options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
    for (bool const later : {false, true}) {
      seen s;
      run(s, 3, {how}, options);
      for (auto const& e : s.errors) CHECK(e.empty());
      CHECK(s.got == expected(all_tasks));
      CHECK(s.run.size() == (later ? 0 : all_tasks));
    }
    options.checkpoint->problem = "letters";
    CHECK(refusal(where, options).find("with other options or input") != std::string::npos);
  }
}

TEST_CASE("farms with streams, ordered or concentrated results, or a serving root resume") {
  for (auto const& how : {skel::any_schedule("guided"), skel::any_schedule("ring")}) {
    check_goes_on({how, false, true}, 3, 2);
    check_goes_on({how, false, false, true}, 2, 3);
    check_goes_on({how, true}, 3, 4);
    check_goes_on({how, false, false, false, true}, 2, 3);
  }
  check_goes_on({skel::any_schedule("first-come"), false, true, true}, 3, 1);
}

TEST_CASE("several runs in a row append to one chain, and write each result once") {
  store const where;
  std::uint64_t written = 0, content = 0, before = 0;
  for (std::uint64_t const most : {50U, 100U, 200U}) {
    seen s;
    run(s, 2, {.how = {}, .most = most}, where.options(most > 50));
    for (auto const& e : s.errors) CHECK(e.empty());
    REQUIRE(s.report.checkpoint);
    auto const& c = *s.report.checkpoint;
    CHECK(c.failed == 0);
    CHECK(c.restored_tasks >= before);
    before = most;
    written += c.written_bytes;
    content = c.bytes;
    if (most == 200) CHECK(s.got == expected(all_tasks));
  }
  CHECK(written == content);
}

TEST_CASE("a farm that chooses the interval resumes, and knows how often its runs have failed") {
  store const where;
  for (std::uint64_t const most : {60U, 200U}) {
    auto options = where.options(most > 60);
    options.checkpoint->every_seconds.reset();
    seen s;
    run(s, 2, {.how = {}, .most = most}, options);
    for (auto const& e : s.errors) CHECK(e.empty());
    REQUIRE(s.report.checkpoint);
    CHECK(s.report.checkpoint->restored_tasks >= (most > 60 ? 60 : 0));
    skel::storage::repository_options all;
    for (auto const& d : where.directories) all.places.push_back({d, "", false});
    auto const newest = skel::storage::repository(all).catalogue().at(0);
    REQUIRE(newest.history);
    CHECK(newest.history->ended);  // by its sink, so the second run has not resumed from a failure
    CHECK(newest.history->failures == 0);
    CHECK(newest.history->seconds > 0);
    if (most > 60) CHECK(s.got == expected(all_tasks));
  }
}

TEST_CASE("a directory that is emptied during a run is filled again") {
  store const where;
  seen first, second;
  for (bool const resume : {false, true}) {
    auto& s = resume ? second : first;
    std::uint64_t count = 0;
    auto const emptied = [&] {
      for (auto const& f : std::filesystem::directory_iterator(where.directories.at(resume ? 2 : 1)))
        std::filesystem::remove(f);
    };
    hub::job job(1, 1);
    job.run([&](skel::context& ctx) {
      s.report =
          skel::farm(
              ctx, skel::indices(all_tasks), [](std::uint64_t i) { return std::to_string(slow_work(i)); },
              [&](skel::task_id id, std::string&& text) {
                s.got.at(id) = std::stoull(text);
                ++count;
                if (count == 60) emptied();
                return count == 100 && !resume ? skel::results::flow::stop : skel::results::flow::go_on;
              },
              where.options(resume))
              .report;
    });
    CHECK(job.error(0).empty());
  }
  REQUIRE(second.report.checkpoint);
  CHECK(second.report.checkpoint->restored_tasks >= 100);
  CHECK(second.got == expected(all_tasks));
}

TEST_CASE("the last checkpoint goes on without what was lost of earlier ones") {
  store const where;
  auto options = where.options(false);
  options.checkpoint->every_seconds = 1000;  // the first checkpoint, and the last
  std::uint64_t count = 0;
  auto const sink = [&](skel::task_id, std::uint64_t) {
    if (++count < all_tasks) return;
    for (auto const at : {0U, 1U})
      for (auto const& f : std::filesystem::directory_iterator(where.directories.at(at)))
        if (f.path().filename().string()[0] != '.') std::filesystem::remove(f);  // the claim stays
  };
  for (bool const resumes : {false, true}) {
    if (resumes) options = where.options(true);
    hub::job job(1, 1);
    job.run([&](skel::context& ctx) {
      auto const r = skel::farm(ctx, skel::indices(all_tasks), slow_work, sink, options).report;
      REQUIRE(r.checkpoint);
      CHECK(r.checkpoint->failed == (resumes ? 0 : 1));
      CHECK(r.checkpoint->restored_tasks == (resumes ? all_tasks : 0));
    });
    CHECK(job.error(0) == "");
  }
}

TEST_CASE("a farm resumes one that knew other costs of its tasks, or none") {
  auto const rising = [](skel::task_id i) { return static_cast<double>(i); };
  auto const mixed = [](skel::task_id i) { return static_cast<double>(i * 37 % 29); };
  std::function<double(skel::task_id)> const costs[] = {mixed, rising, nullptr};
  unsigned turn = 0;
  for (auto const& how : schedules())
    for (bool const ordered : {false, true}) {
      trial t{.how = how, .concentrated = turn % 4 == 0, .ordered = ordered};
      t.cost = costs[turn % 3];
      t.cost_later = costs[(turn + 1) % 3];
      int const ranks = 1 + static_cast<int>(turn % 4);
      check_goes_on(t, ranks, 1 + ranks % 4);
      ++turn;
    }
}

TEST_CASE("a merged result of tasks with costs is resumed with other costs") {
  store const where;
  auto options = where.options(false);
  std::atomic<std::uint64_t> runs{0};
  std::uint64_t total = 0;
  for (bool const resume : {false, true}) {
    options.checkpoint->resume = test::resume_mode(resume);
    std::stop_source stop;
    options.stop = stop.get_token();
    options.task.cost = [=](skel::task_id i) { return static_cast<double>(resume ? i * 37 % 29 : i); };
    total = 0;
    hub::job job(3, 1);
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        if (++runs == all_tasks / 2 && !resume) stop.request_stop();
        return slow_work(i);
      };
      auto const r =
          skel::farm(ctx, skel::indices(all_tasks), f, skel::reduced(total, std::plus<>()), options).report;
      if (ctx.is_root() && resume) CHECK(r.tasks == all_tasks);
    });
  }
  auto const all = expected(all_tasks);
  CHECK(total == std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
}

TEST_CASE("a completed farm runs no task again") {
  store const where;
  for (bool resume : {false, true}) {
    seen s;
    run(s, 3, {skel::any_schedule("ring")}, where.options(resume));
    CHECK(s.got == expected(all_tasks));
    CHECK(s.run.size() == (resume ? 0 : all_tasks));
  }
}

TEST_CASE("a merged result is resumed") {
  for (char const* how : {"auto", "guided", "interleaved", "ring"})
    for (bool concentrated : {false, true}) {
      store const where;
      auto options = where.options(false);
      if (concentrated) options.results = skel::results::concentrated();
      std::atomic<std::uint64_t> runs{0};
      std::uint64_t total = 0;
      for (bool resume : {false, true}) {
        INFO(how << ", " << concentrated << ", " << resume);
        options.checkpoint->resume = test::resume_mode(resume);
        std::stop_source stop;
        options.stop = stop.get_token();
        total = 5;  // the initial value counts once in each run
        hub::job job(3, 1);
        job.run_well([&](skel::context& ctx) {
          auto const f = [&](std::uint64_t i) {
            if (++runs == all_tasks / 2 && !resume) stop.request_stop();
            return slow_work(i);
          };
          auto const r = skel::farm(ctx, skel::indices(all_tasks), f, skel::any_schedule(how),
                                    skel::reduced(total, std::plus<>()), options)
                             .report;
          if (!ctx.is_root() || !resume) return;
          REQUIRE(r.checkpoint);
          CHECK(r.tasks == all_tasks);
        });
      }
      auto const all = expected(all_tasks);
      CHECK(total == std::accumulate(all.begin(), all.end(), std::uint64_t{5}));
      CHECK(runs <= 2 * all_tasks);
    }
}

TEST_CASE("results from before a task threw are kept") {
  store const where;
  auto options = where.options(false);
  std::set<std::uint64_t> run_later;
  std::mutex lock;
  for (bool resume : {false, true}) {
    options.checkpoint->resume = test::resume_mode(resume);
    std::vector<std::uint64_t> got;
    hub::job job(2, 1);
    job.run([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        if (!resume && i == 100) throw std::runtime_error("no");
        std::lock_guard const guard(lock);
        if (resume) run_later.insert(i);
        return slow_work(i);
      };
      skel::farm(ctx, skel::indices(all_tasks), f, skel::schedule::first_come{}, skel::into(got), options);
    });
    CHECK(job.error(0).empty() == resume);
    if (resume) CHECK(got == expected(all_tasks));
  }
  CHECK(run_later.size() < all_tasks);
  CHECK(run_later.contains(100));
}

TEST_CASE("an invalid, empty, foreign or unrequested store is refused in one line") {
  store const where;
  CHECK(refusal(where, where.options(true)).find("there is no checkpoint to resume from in a, b, c") !=
        std::string::npos);
  seen s;
  run(s, 2, {}, where.options(false));
  CHECK(s.got == expected(all_tasks));
  CHECK(refusal(where, where.options(false)) ==
        "there is a checkpoint in a, b, c already: resume it (--resume), or empty the directories");
  CHECK(refusal(where, where.options(true, "letters")).find("use another store") != std::string::npos);
  store const older;  // without a log of calls
  skel::storage::repository_options o;
  for (auto const& d : older.directories) o.places.push_back({d, "", false});
  o.identity = {"a test", "1", 42};
  skel::storage::repository const written(o);
  auto const plan = written.next(1);
  written.prepare(plan, 0, "results", std::span<std::byte const>());
  written.commit(plan);
  CHECK(
      refusal(older, older.options(true)) ==
      "a: contains generation 1 of a test 1 in the format of another version of skel; resume with that one, "
      "or use another store");
  auto other_version = where.options(true);
  other_version.checkpoint->program.version = "2";
  CHECK(refusal(where, other_version).find("of a test 1, ") != std::string::npos);
  auto other_program = where.options(true);
  other_program.checkpoint->program.name = "another test";
  CHECK(refusal(where, other_program).find("expected another test 1; ") != std::string::npos);
  auto gone = where.options(true);
  for (auto& d : gone.checkpoint->store) d += "/gone";
  CHECK(refusal(where, gone).find("No such file or directory") != std::string::npos);
  auto few = where.options(false);
  few.checkpoint->store.clear();
  CHECK(refusal(where, few) == "a checkpoint needs at least one directory: --store");
  auto unknown = where.options(false);
  unknown.checkpoint->code = "raid:5";
  CHECK(refusal(where, unknown).find("raid") != std::string::npos);
}

TEST_CASE("a checkpoint of a longer stream is refused") {
  store const where;
  seen s;
  run(s, 2, {.how = {}, .stream = true}, where.options(false));
  CHECK(s.got == expected(all_tasks));
  hub::job job(2, 1);
  job.run([&](skel::context& ctx) {
    skel::farm(
        ctx, counting(100), [](std::uint64_t i) { return std::to_string(i); }, skel::schedule::guided{},
        [](skel::task_id, std::string&&) {}, where.options(true));
  });
  CHECK(job.error(0) ==
        "the source of tasks failed: it has 100 tasks, but the checkpoint holds the result of task 159");
}

TEST_CASE("a resumed run tries the tasks again that failed, and no others") {
  store const where;
  std::set<std::uint64_t> run_now;
  std::mutex lock;
  for (bool const resumes : {false, true}) {
    INFO((resumes ? "resumed" : "first"));
    hub::job job(3, 2);
    run_now.clear();
    std::vector<std::uint64_t> in_order, right;
    for (std::uint64_t id = 0; id < all_tasks; ++id)
      if (resumes || id % 40 != 7) right.push_back(work(id));
    job.run_well([&](skel::context& ctx) {
      auto options = where.options(resumes);
      options.on_error = skel::on_error::collect{};
      auto const f = [&](std::uint64_t id) {
        {
          std::lock_guard const guard(lock);
          run_now.insert(id);
        }
        if (!resumes && id % 40 == 7) throw std::runtime_error("no luck");
        return work(id);
      };
      auto const write = [&](skel::task_id, std::uint64_t x) { in_order.push_back(x); };
      auto const r = skel::farm(ctx, skel::indices(all_tasks), f, skel::ordered(write), options).report;
      if (ctx.is_root()) CHECK(r.failed_tasks.size() == (resumes ? 0 : 4));
    });
    CHECK(in_order == right);
    if (resumes) CHECK(run_now == std::set<std::uint64_t>{7, 47, 87, 127});
  }
}

TEST_CASE("a farm of teams resumes from its checkpoint, on other ranks and teams") {
  store const where;
  auto const part = [&](int ranks, int size, bool resume, std::uint64_t most) {
    seen s;
    skel::farm_options options = where.options(resume);
    options.task.team_size = size;
    hub::job job(ranks);
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](skel::context& team, std::uint64_t i) {
        std::lock_guard const guard(s.lock);
        if (team.is_root()) s.run.insert(i);
        return std::to_string(work(i));
      };
      auto const sink = [&](skel::task_id id, std::string&& text) {
        s.got.at(id) = std::stoull(text);
        return ++s.sunk == most ? skel::results::flow::stop : skel::results::flow::go_on;
      };
      auto const r = skel::farm(ctx, skel::indices(all_tasks), f, sink, options).report;
      if (ctx.is_root()) s.report = r;
    });
    REQUIRE(s.report.checkpoint);
    return std::pair{s.got, std::pair{s.run.size(), s.report.checkpoint->restored_tasks}};
  };
  auto const first = part(5, 2, false, 60);
  CHECK(first.second.second == 0);
  auto const second = part(4, 3, true, ~std::uint64_t{0});
  CHECK(second.first == expected(all_tasks));
  auto const [ran, restored] = second.second;
  CHECK(restored >= 60);
  CHECK(ran + restored == all_tasks);
}

namespace {

// A farm of all tasks, whose results are `factor` times the task. Returns them, on the root.
std::vector<std::int64_t> multiples(skel::context& ctx, std::int64_t factor, std::atomic<std::uint64_t>& runs,
                                    skel::farm_options const& options) {
  std::vector<std::int64_t> all;
  auto const f = [&, factor](std::uint64_t i) { return ++runs, factor * static_cast<std::int64_t>(i); };
  skel::farm(ctx, skel::indices(all_tasks), f, skel::into(all), options);
  return all;
}

std::size_t files_in(std::string const& directory) {
  auto const files = std::filesystem::directory_iterator(directory);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_CASE("farms that share a store have their own results, in the first run and in later ones") {
  store const where;
  auto options = where.options(false);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  for (int const round : {0, 1, 2}) {
    INFO(round);
    std::atomic<std::uint64_t> runs{0};
    std::vector<std::int64_t> up, down;
    std::uint64_t sum = 0, product = 0;
    hub::job job(1 + round);
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) { return ++runs, i; };
      auto first = multiples(ctx, 3, runs, options);
      skel::farm(ctx, skel::indices(all_tasks), f, skel::reduced(sum, std::plus<>()), options);
      auto second = multiples(ctx, -3, runs, options);
      auto const r =
          skel::farm(ctx, skel::indices(all_tasks), f, skel::reduced(product, std::bit_xor<>()), options);
      if (!ctx.is_root()) return;
      up = first;
      down = second;
      CHECK(r.report.checkpoint.value().restored_tasks == (round == 0 ? 0 : all_tasks));
    });
    CHECK(runs == (round == 0 ? 4 * all_tasks : 0));
    REQUIRE(up.size() == all_tasks);
    REQUIRE(down.size() == all_tasks);
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < all_tasks; ++i) {
      CHECK(up[i] == 3 * static_cast<std::int64_t>(i));
      CHECK(down[i] == -up[i]);
      all ^= i;
    }
    CHECK(sum == all_tasks * (all_tasks - 1) / 2);
    CHECK(product == all);
  }
}

TEST_CASE("a loop of farms leaves few files, and runs no task of earlier steps again") {
  constexpr int steps = 90, lost_at = 80;
  store const where;
  auto options = where.options(false);
  options.checkpoint->code = "replicate:1";
  options.checkpoint->store.resize(1);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  for (bool const resumes : {false, true}) {
    std::atomic<int> runs{0};
    std::uint64_t state = 1;
    hub::job job(1);
    job.run([&](skel::context& ctx) {
      for (int step = 0; step < steps; ++step) {
        if (step == lost_at && !resumes) throw std::runtime_error("lost");
        std::uint64_t next = 0;
        skel::farm(
            ctx, skel::indices(3), [&](std::uint64_t i) { return ++runs, 7 * state + i; },
            skel::reduced(next, std::plus<>()), options);
        state = next % 1000003;
      }
    });
    CHECK(job.error(0).empty() == resumes);
    CHECK(runs == 3 * (resumes ? steps - lost_at : lost_at));
    CHECK(files_in(where.directories[0]) < 160);  // a chain of 64 generations, each with its manifest
    if (!resumes) continue;
    std::uint64_t right = 1;
    for (int step = 0; step < steps; ++step) right = (21 * right + 3) % 1000003;
    CHECK(state == right);
  }
}

TEST_CASE("what was saved of a call is void when an earlier one gets more results") {
  store const where;
  auto options = where.options(false);
  options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
  for (bool const stops : {true, false}) {
    std::uint64_t sum = 0;
    std::vector<std::int64_t> all;
    std::atomic<std::uint64_t> runs{0};
    hub::job job(1);
    job.run_well([&](skel::context& ctx) {
      std::uint64_t results = 0;
      auto const sink = [&](skel::task_id /*id*/, std::uint64_t x) {
        sum += x;
        return stops && ++results == 10 ? skel::results::flow::stop : skel::results::flow::go_on;
      };
      skel::farm(ctx, skel::indices(all_tasks), slow_work, sink, options);
      all = multiples(ctx, static_cast<std::int64_t>(sum % 1000), runs, options);
    });
    CHECK(runs == all_tasks);
    CHECK(all.at(1) == static_cast<std::int64_t>(sum % 1000));
  }
}

namespace {

struct times {
  std::int64_t factor = 1;
  std::int64_t operator()(std::int64_t i) const { return factor * i; }
};

}  // namespace

TEST_CASE("a call with another list, label, number of tasks or function object is refused") {
  store const where;
  std::vector<std::int64_t> const list{3, 1, 2};
  auto const call = [&](std::vector<std::int64_t> const& tasks, std::int64_t factor,
                        std::string const& label) {
    auto options = where.options(false);
    options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
    options.checkpoint->program.name.clear();
    options.label = label;
    std::vector<std::int64_t> got;
    hub::job job(1);
    job.run([&](skel::context& ctx) {
      skel::farm(ctx, skel::replicated(tasks), times{factor}, skel::into(got), options);
    });
    if (job.error(0).empty()) CHECK(got == std::vector<std::int64_t>{3 * factor, factor, 2 * factor});
    return where.without_path(job.error(0));
  };
  CHECK(call(list, 2, "").empty());
  CHECK(call(list, 2, "").empty());
  CHECK(call({3, 1, 4}, 2, "")
            .find("(call 1: other contents of the task list) with other options or input; ") !=
        std::string::npos);
  CHECK(call(list, 3, "").find("(call 1: other members of the task function)") != std::string::npos);
  CHECK(call(list, 2, "steps").find("(call 1: label none instead of steps)") != std::string::npos);
  CHECK(call({3, 1}, 2, "").find("(call 1: tasks 3 instead of 2)") != std::string::npos);
  skel::storage::repository_options all;
  for (auto const& d : where.directories) all.places.push_back({d, "", false});
  CHECK(skel::storage::repository(all).catalogue().at(0).written_by.value().program.starts_with("test_"));
}

TEST_CASE("a store that a living job uses is refused in one line") {
  store const where;
  std::atomic<bool> begun{false}, refused{false};
  hub::job first(1);
  std::jthread const other([&] {
    while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto options = where.options(false);
    options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
    auto const text = refusal(where, options);
    INFO(text);
    CHECK(text.starts_with("a: another job uses this store: "));
    CHECK(text.find(", process " + std::to_string(getpid()) + ", since 2") != std::string::npos);
    CHECK(text.ends_with("; wait until it ends, or use another store"));
    refused = true;
  });
  std::uint64_t sum = 0;
  first.run_well([&](skel::context& ctx) {
    auto const f = [&](std::uint64_t i) {
      begun = true;
      while (!refused) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return i;
    };
    skel::farm(ctx, skel::indices(10), f, skel::reduced(sum, std::plus<>()), where.options(false));
  });
  CHECK(sum == 45);
}
