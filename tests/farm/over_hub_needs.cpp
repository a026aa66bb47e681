// Farms over several ranks in one process whose tasks need memory, cores and time.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include "base/memory.hpp"
#include "over_hub.hpp"
#include "skel/error.hpp"

using namespace farm_test;

namespace {

// Every rank of these jobs has a host of its own.
std::uint64_t share_of_memory(double part) {
  return static_cast<std::uint64_t>(part * static_cast<double>(skel::detail::memory_of_rank(1)));
}

bool heavy(std::uint64_t i) { return i % 3 == 0; }

// Most tasks of a kind that ran together on one rank.
class ran_together {
 public:
  class one {
   public:
    one(ran_together& of, int rank, std::uint64_t n) : of_(of), rank_(static_cast<std::size_t>(rank)), n_(n) {
      std::lock_guard const lock(of_.mutex_);
      of_.most_ = std::max(of_.most_, of_.now_[rank_] += n_);
    }
    one(one const&) = delete;
    one& operator=(one const&) = delete;
    ~one() {
      std::lock_guard const lock(of_.mutex_);
      of_.now_[rank_] -= n_;
    }

   private:
    ran_together& of_;
    std::size_t rank_;
    std::uint64_t n_;
  };
  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, 8> now_{};
  std::uint64_t most_ = 0;
};

skel::needs_of_task forty_percent() {
  return [](std::uint64_t i) { return skel::task_needs{.memory = heavy(i) ? share_of_memory(0.4) : 0}; };
}

std::vector<skel::any_schedule> schedules_without_copies() {
  auto all = schedules();
  std::erase_if(all, [](auto const& how) {
    return how.policy().copies && how.policy().more == skel::schedule::more_from::ring;
  });
  return all;
}

}  // namespace

TEST_CASE("tasks that need 40 % of a rank's memory run two at a time, beside light ones") {
  for (int const ranks : {1, 2}) {
    hub::job job(ranks, 4);
    for (auto const& how : schedules_without_copies()) {
      INFO(ranks << " ranks, " << how.to_string());
      ran_together heavies, lights;
      std::atomic<int> both = 0;
      std::vector<std::uint64_t> got;
      auto const report = job.run_well([&](skel::context& ctx) {
        auto const f = [&](std::uint64_t i, skel::worker_info const& by) {
          ran_together::one const here(heavy(i) ? heavies : lights, by.rank, 1);
          if (heavies.most() > 0 && lights.most() > 0) ++both;
          std::this_thread::sleep_for(std::chrono::milliseconds(heavy(i) ? 4 : 1));
          return work(i);
        };
        skel::farm_options const options{.task = {.needs = forty_percent()}};
        return skel::farm(ctx, skel::indices(90), f, how, skel::into(got), options).report;
      });
      CHECK(got == expected(90));
      CHECK(heavies.most() == 2);
      CHECK(lights.most() >= 1);
      CHECK(both > 0);
      REQUIRE(report.needs);
      CHECK(report.needs->memory == share_of_memory(1));
      CHECK(report.needs->threads == 4);
      CHECK(report.needs->not_started == 0);
      CHECK_FALSE(report.stopped_early);
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // which has terabytes of address space

namespace {

// The process may have this much address space, until the end of the block.
class limited_memory {
 public:
  explicit limited_memory(std::uint64_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    rlimit now = before_;
    now.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_AS, &now) == 0);
  }
  limited_memory(limited_memory const&) = delete;
  limited_memory& operator=(limited_memory const&) = delete;
  ~limited_memory() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

std::uint64_t used_address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("under RLIMIT_AS tasks find the memory that they need") {
  hub::job job(1, 4);
  auto const limit = 5 * (used_address_space() + (std::uint64_t{512} << 20));  // a fifth is for the process
  if (limit > skel::detail::memory_of_host()) {
    WARN("not tested: this machine has too little memory");
    return;
  }
  limited_memory const here(limit);
  for (bool const says : {true, false}) {
    CAPTURE(says);
    std::atomic<int> refused = 0;
    std::vector<std::uint64_t> got;
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i) {
        std::size_t const bytes = heavy(i) ? limit / 5 * 2 : 4096;
        void* const all = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(heavy(i) ? 10 : 1));
        if (all == MAP_FAILED)
          ++refused;
        else
          ::munmap(all, bytes);
        return work(i);
      };
      skel::farm_options options;
      if (says) options.task.needs = forty_percent();
      return skel::farm(ctx, skel::indices(90), f, skel::schedule::adaptive{}, skel::into(got), options)
          .report;
    });
    CHECK(got == expected(90));
    CHECK((refused == 0) == says);
  }
}

#endif

TEST_CASE("the threads of tasks that run together are no more than the rank has, and each hears its own") {
  hub::job job(2, 4);
  for (auto const& how : schedules_without_copies()) {
    INFO(how.to_string());
    ran_together threads;
    std::vector<std::uint64_t> got;
    auto const width = [](std::uint64_t i) { return static_cast<unsigned>(1 + i % 4); };
    job.run_well([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i, skel::worker_info const& by) {
        CHECK(by.threads == width(i));
        ran_together::one const here(threads, by.rank, by.threads);
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        return work(i);
      };
      skel::farm_options const options{.task = {.needs = [&](int i) {
                                         return skel::task_needs{.threads = width(static_cast<unsigned>(i))};
                                       }}};
      skel::farm(ctx, skel::indices(100), f, how, skel::into(got), options);
    });
    CHECK(got == expected(100));
    CHECK(threads.most() <= 4);
    CHECK(threads.most() >= 3);
  }
}

TEST_CASE("needs change no bytes: any number of tasks, ranks and threads, every source and sink, twice") {
  for (int const ranks : {1, 2, 5})
    for (int const threads : {1, 3}) {
      hub::job job(ranks, threads);
      for (auto const& how : schedules_without_copies())
        for (std::uint64_t const n : {0U, 1U, 2U, 60U}) {
          INFO(how.to_string() << ", " << ranks << " ranks, " << threads << " threads, " << n << " tasks");
          skel::farm_options const options{.task = {.needs = forty_percent()}};
          bool const streams = how.policy().start == skel::schedule::start_with::nothing;
          for (int call = 0; call < 2; ++call) {
            std::vector<std::uint64_t> into, in_order, streamed;
            std::uint64_t total = 0;
            job.run_well([&](skel::context& ctx) {
              skel::farm(ctx, skel::indices(n), work, how, skel::into(into), options);
              auto const write = [&](skel::task_id, std::uint64_t r) { in_order.push_back(r); };
              skel::farm(ctx, skel::indices(n), work, how, skel::ordered(write), options);
              skel::farm(ctx, skel::indices(n), work, how, skel::reduced(total, std::plus<>()), options);
              if (streams) skel::farm(ctx, counting(n), work, how, skel::into(streamed), options);
            });
            auto const all = expected(n);
            CHECK(into == all);
            CHECK(in_order == all);
            CHECK(total == std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
            if (streams) CHECK(streamed == all);
          }
        }
    }
}

TEST_CASE("a task that fits on no rank is one error, which names the task and the limit") {
  hub::job job(3, 2);
  for (bool const retries : {false, true})
    for (auto const& how : schedules_without_copies()) {
      INFO(how.to_string());
      skel::farm_options options;
      if (retries) options.on_error = skel::on_error::retry{.times = 5};
      auto const text = [&](auto const& of) {
        options.task.needs = [=](std::uint64_t i) { return i == 17 ? of() : skel::task_needs{}; };
        return job.all_throw<skel::task_error>([&](skel::context& ctx) {
          std::vector<std::uint64_t> got;
          skel::farm(ctx, skel::indices(40), work, how, skel::into(got), options);
        });
      };
      auto const memory = text([] { return skel::task_needs{.memory = share_of_memory(1.5)}; });
      CHECK(memory.starts_with("task 17 failed on rank "));
      CHECK(memory.ends_with("it needs " + skel::detail::text_of_bytes(share_of_memory(1.5)) +
                             " of memory, but a rank may use at most " +
                             skel::detail::text_of_bytes(share_of_memory(1))));
      auto const threads = text([] { return skel::task_needs{.threads = 3}; });
      CHECK(threads.ends_with("it needs 3 threads, but a rank has at most 2"));
    }
}

TEST_CASE("collect leaves out tasks that fit on no rank, and needs that make no sense") {
  hub::job job(2, 2);
  std::vector<std::uint64_t> sunk;
  auto const report = job.run_well([&](skel::context& ctx) {
    skel::farm_options const options{.on_error = skel::on_error::collect{},
                                     .task = {.needs = [](std::uint64_t i) {
                                       if (i == 4) throw std::runtime_error("unknown");
                                       return skel::task_needs{.memory = i == 3 ? share_of_memory(2) : 0,
                                                               .threads = i == 5 ? 0U : 1U};
                                     }}};
    auto const sink = [&](skel::task_id, std::uint64_t r) { sunk.push_back(r); };
    return skel::farm(ctx, skel::indices(8), work, skel::ordered(sink), options).report;
  });
  REQUIRE(report.failed_tasks.size() == 3);
  CHECK(report.failed_tasks[0].task == 3);
  CHECK(report.failed_tasks[1].text == "unknown");
  CHECK(report.failed_tasks[2].text.find("0 threads") != std::string::npos);
  CHECK(sunk == std::vector<std::uint64_t>{work(0), work(1), work(2), work(6), work(7)});
}

TEST_CASE("tasks with needs run again when they fail, and after losses") {
  for (auto const& how : schedules_without_copies()) {
    INFO(how.to_string());
    hub::job job(4, 3);
    ran_together heavies;
    std::vector<std::uint64_t> got;
    std::array<std::atomic<int>, 4> begun{};
    std::array<std::atomic<bool>, 120> failed{};
    job.run([&](skel::context& ctx) {
      auto const f = [&](std::uint64_t i, skel::worker_info const& by) {
        auto const rank = static_cast<std::size_t>(by.rank);
        std::optional<ran_together::one> here;
        if (heavy(i)) here.emplace(heavies, by.rank, 1);
        if (rank > 1 && ++begun[rank] == 6) job.kill(by.rank);
        if (i % 7 == 0 && !failed[i].exchange(true)) throw std::runtime_error("once");
        return slow_work(i);
      };
      skel::farm_options const options{.on_error = skel::on_error::retry{.times = 20},
                                       .max_losses_per_task = 0,
                                       .task = {.needs = forty_percent()}};
      skel::farm(ctx, skel::indices(120), f, how, skel::into(got), options);
    });
    CHECK(job.error(0).empty());
    CHECK(got == expected(120));
    CHECK(heavies.most() <= 2);
  }
}

TEST_CASE("tasks that cannot end before the time limit are not started") {
  auto const slow = [](std::uint64_t i) { return skel::task_needs{.seconds = i % 4 == 1 ? 3600.0 : 0.001}; };
  std::vector<std::uint64_t> right;
  for (std::uint64_t i = 0; i < 40; ++i)
    if (i % 4 != 1) right.push_back(work(i));
  for (int const ranks : {1, 3}) {
    hub::job job(ranks, 2);
    for (auto const& how : schedules_without_copies()) {
      INFO(ranks << " ranks, " << how.to_string());
      std::vector<std::uint64_t> sunk;
      std::array<std::atomic<bool>, 3> stopped{};
      auto const run = [&](std::optional<double> limit) {
        sunk.clear();
        return job.run_well([&](skel::context& ctx) {
          skel::farm_options const options{.time_limit_seconds = limit, .task = {.needs = slow}};
          auto const sink = [&](skel::task_id, std::uint64_t r) { sunk.push_back(r); };
          auto r = skel::farm(ctx, skel::indices(40), work, how, skel::ordered(sink), options).report;
          stopped[static_cast<std::size_t>(ctx.rank())] = r.stopped_early;
          return r;
        });
      };
      auto const report = run(600);
      CHECK(sunk == right);
      REQUIRE(report.needs);
      CHECK(report.needs->not_started == 10);
      CHECK(report.failed_tasks.empty());
      CHECK(report.tasks == 30);
      for (int r = 0; r < ranks; ++r) CHECK(stopped[static_cast<std::size_t>(r)]);
      CHECK(run(std::nullopt).needs->not_started == 0);
      CHECK(sunk == expected(40));
    }
  }
}

TEST_CASE("needs are refused where they mean nothing, on every rank") {
  hub::job job(3);
  std::vector<std::uint64_t> got;
  auto const refusal = [&](auto const& call) { return job.all_throw<skel::usage_error>(call); };
  CHECK(refusal([&](skel::context& ctx) {
          skel::farm(ctx, skel::indices(9), work, skel::into(got),
                     {.task = {.needs = [](std::string const&) { return skel::task_needs{}; }}});
        }).starts_with("farm: the function of task.needs takes std::"));
  CHECK(refusal([&](skel::context& ctx) {
          skel::farm(ctx, skel::indices(9), work, skel::any_schedule("ring:copies=yes"), skel::into(got),
                     {.task = {.needs = skel::task_needs{.memory = 1}}});
        }).find("for which task.needs leave no room") != std::string::npos);
  CHECK(refusal([&](skel::context& ctx) {
          auto const jointly = [](skel::context&, std::uint64_t i) { return work(i); };
          skel::farm(ctx, skel::indices(9), jointly, skel::into(got),
                     {.task = {.team_size = 2, .needs = skel::task_needs{.memory = 1}}});
        }).find("on teams of several ranks each runs alone") != std::string::npos);
}
