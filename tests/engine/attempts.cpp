// The root dies, and the others run the body again.
#include "attempts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"
#include "transport/link.hpp"

using namespace attempts_test;

namespace {

constexpr std::uint64_t tasks = 400;
std::uint64_t work(std::uint64_t i) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return value_of(i);
}

// What the root of the last attempt has.
struct outcome {
  std::mutex mutex;
  int attempt = 0, size = 0, root = -1;
  std::uint64_t sum = 0;
  skel::report report;
  void set(skel::context const& ctx, int rank, std::uint64_t s, skel::report const& r) {
    std::lock_guard const lock(mutex);
    attempt = ctx.attempt();
    size = ctx.size();
    root = rank;
    sum = s;
    report = r;
  }
};

}  // namespace

TEST_CASE("the root of a farm dies: the others run the body again, and have every result") {
  for (int const ranks : {2, 3, 5})
    for (std::uint64_t const at : {1U, 200U, 399U}) {
      CAPTURE(ranks, at);
      job j(ranks);
      outcome last;
      j.run([&](skel::context& ctx, int rank) {
        std::uint64_t sum = 0, heard = 0;
        auto const attempt = ctx.attempt();
        auto const [report] = skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
                                         [&](skel::task_id, std::uint64_t x) {
                                           sum += x;
                                           if (++heard == at && attempt == 1) j.end(rank);
                                         });
        if (ctx.is_root()) last.set(ctx, rank, sum, report);
      });
      CHECK(last.attempt == 2);
      CHECK(last.size == ranks - 1);
      CHECK(last.root == 1);
      CHECK(last.sum == sum_of(tasks));
      CHECK(last.report.attempt == 2);
      CHECK(last.report.lost_ranks.empty());
      REQUIRE(last.report.losses.size() == 1);
      auto const& loss = last.report.losses[0];
      CHECK(loss.rank == 0);
      CHECK(loss.attempt == 1);
      CHECK(loss.was_root);
      CHECK(loss.noticed == skel::loss_notice::ended);
      CHECK(loss.silent_seconds < 5);
      for (int r = 1; r < ranks; ++r) CHECK(j.codes[static_cast<std::size_t>(r)] == 0);
    }
}

// A root that only serves, so that the others have computed all that it has heard.
skel::farm_options serving() {
  skel::farm_options options;
  options.root_works = false;
  return options;
}

TEST_CASE("what the other ranks computed for a root that died is not computed again") {
  std::vector<skel::farm_policy> const schedules{
      skel::schedule::adaptive{}.policy(), skel::schedule::guided{}.policy(),
      skel::schedule::first_come{3}.policy(), skel::schedule::blocks{}.policy(),
      skel::schedule::ring{}.policy()};
  for (std::size_t k = 0; k < schedules.size(); ++k)
    for (bool const remembers : {true, false}) {
      CAPTURE(k, remembers);
      job j(4);
      if (!remembers) j.remember = 0;
      outcome last;
      std::atomic<std::uint64_t> again{0};
      j.run([&](skel::context& ctx, int rank) {
        std::uint64_t sum = 0, heard = 0;
        auto const attempt = ctx.attempt();
        auto const report = skel::farm(
            ctx, skel::indices(tasks),
            [&, attempt](std::uint64_t i) {
              if (attempt > 1) ++again;
              return work(i);
            },
            schedules[k],
            [&](skel::task_id, std::uint64_t x) {
              sum += x;
              if (++heard == 300 && attempt == 1) j.end(rank);
            },
            serving());
        if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
      });
      CHECK(last.attempt == 2);
      CHECK(last.sum == sum_of(tasks));
      CHECK(again <= (remembers ? tasks - 300 : tasks));
      if (!remembers) CHECK(again >= tasks);
      auto const& restored = last.report.checkpoint;
      auto const known = restored ? restored->restored_tasks : 0;
      CHECK((known > 0) == remembers);
      CHECK(known <= tasks);
      CHECK(known + again >= tasks);  // a late task may run twice
    }
}

TEST_CASE(
    "results are remembered for ordered sinks, after earlier calls and over two losses; streams begin "
    "again") {
  for (int const losses : {1, 2})
    for (int const kind : {0, 1, 2}) {
      CAPTURE(losses, kind);
      job j(5);
      outcome last;
      std::atomic<std::uint64_t> again{0};
      j.run([&](skel::context& ctx, int rank) {
        auto const attempt = ctx.attempt();
        std::uint64_t heard = 0, sum = 0, next = 0;
        auto const task = [&, attempt](std::uint64_t i) {
          if (attempt > losses) ++again;
          return work(i);
        };
        auto const hear = [&] {
          if (++heard == 250 + 50 * static_cast<unsigned>(attempt) && attempt <= losses) j.end(rank);
        };
        skel::result<void> report;
        if (kind == 0) {
          report = skel::farm(ctx, skel::indices(tasks), task, skel::schedule::adaptive{},
                              skel::ordered([&](skel::task_id id, std::uint64_t x) {
                                if (id != next++) throw std::runtime_error("not in order");
                                sum += x;
                                hear();
                              }),
                              serving());
        } else if (kind == 1) {
          auto const all = [] {
            std::vector<std::uint64_t> numbers(tasks);
            std::iota(numbers.begin(), numbers.end(), 0);
            return numbers;
          };
          report = skel::farm(
              ctx, skel::on_root(all), task, skel::schedule::adaptive{},
              [&](skel::task_id, std::uint64_t x) {
                sum += x;
                hear();
              },
              serving());
        } else {
          std::vector<std::uint64_t> first;  // an earlier call of the same body
          report = skel::farm(
              ctx, skel::indices(50), task, skel::schedule::guided{},
              [&](skel::task_id, std::uint64_t x) { first.push_back(x); }, serving());
          report = skel::farm(
              ctx, skel::indices(tasks), task, skel::schedule::ring{},
              [&](skel::task_id, std::uint64_t x) {
                sum += x;
                hear();
              },
              serving());
          if (ctx.is_root()) CHECK(first.size() == 50);
        }
        if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
      });
      CHECK(last.attempt == losses + 1);
      CHECK(last.sum == sum_of(tasks));
      if (kind != 1) CHECK(again < tasks);  // what the second root computed in the first attempt is lost
    }
}

TEST_CASE("results of another call are not taken for those of this one") {
  job j(3);
  outcome last;
  std::atomic<std::uint64_t> again{0};
  j.run([&](skel::context& ctx, int rank) {
    auto const attempt = ctx.attempt();
    std::uint64_t sum = 0, heard = 0;
    auto const report = skel::farm(
        ctx, skel::indices(attempt == 1 ? tasks + 1 : tasks),
        [&, attempt](std::uint64_t i) {
          if (attempt > 1) ++again;
          return work(i);
        },
        skel::schedule::adaptive{},
        [&](skel::task_id, std::uint64_t x) {
          sum += x;
          if (++heard == 300 && attempt == 1) j.end(rank);
        });
    if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
  });
  CHECK(last.sum == sum_of(tasks));
  CHECK(again >= tasks);
}

TEST_CASE("a silent root is left by a majority, and a minority gives up") {
  for (int const dead : {1, 3}) {
    CAPTURE(dead);
    job j(5, true, false);
    outcome last;
    std::atomic<int> about_to_end{0};
    std::atomic<bool> ending{false};
    j.run([&](skel::context& ctx, int rank) {
      std::uint64_t sum = 0, heard = 0;
      auto const attempt = ctx.attempt();
      auto const report = skel::farm(
          ctx, skel::indices(tasks),
          [&, attempt, rank](std::uint64_t i) {
            if (attempt == 1 && rank > 0 && rank < dead) {
              ++about_to_end;
              while (!ending) std::this_thread::sleep_for(std::chrono::milliseconds(1));
              j.end(rank);
            }
            return work(i);
          },
          skel::schedule::adaptive{},
          [&](skel::task_id, std::uint64_t x) {
            sum += x;
            if (++heard == 100 && attempt == 1) {
              while (about_to_end < dead - 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
              ending = true;
              j.end(rank);
            }
          });
      if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
    });
    CHECK(last.attempt == (dead == 1 ? 2 : 0));
    if (dead == 1) CHECK(last.sum == sum_of(tasks));
    for (int r = dead; r < 5; ++r) CHECK(j.codes[static_cast<std::size_t>(r)] == (dead == 1 ? 0 : 1));
  }
}

TEST_CASE("ends that one rank has noticed on another host are certain for all") {
  for (int const dead : {1, 3}) {
    CAPTURE(dead);
    job j(5);
    j.watcher = 4;
    outcome last;
    std::atomic<bool> now{false};
    j.run([&](skel::context& ctx, int rank) {
      std::uint64_t sum = 0, heard = 0;
      auto const first = ctx.attempt() == 1;
      auto const report = skel::farm(
          ctx, skel::indices(tasks),
          [&, first, rank](std::uint64_t i) {
            if (first && rank > 0 && rank < dead && now) j.end(rank);
            return work(i);
          },
          skel::schedule::adaptive{},
          [&](skel::task_id, std::uint64_t x) {
            sum += x;
            if (++heard == 100 && first) {
              now = true;
              j.end(rank);
            }
          });
      if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
    });
    CHECK(last.sum == sum_of(tasks));
    CHECK(last.attempt == 2);
    CHECK(last.root == dead);
    CHECK(last.size == 5 - dead);
    REQUIRE(last.report.losses.size() == static_cast<std::size_t>(dead));
    for (auto const& loss : last.report.losses) CHECK(loss.noticed == skel::loss_notice::connection);
    for (int r = dead; r < 5; ++r) CHECK(j.codes[static_cast<std::size_t>(r)] == 0);
  }
}

// Ranks 0 and 1 on one side, 2 to 4 on the other.
TEST_CASE("of two sides of a network only the larger one goes on, and the root of the other calls no sink") {
  job j(5, true, false);
  outcome last;
  std::atomic<std::uint64_t> heard_by_first{0};
  std::atomic<bool> first_has_all{false}, first_has_left{false};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0;
    auto const hear = [&](skel::task_id, std::uint64_t x) {
      sum += x;
      if (rank == 0 && ++heard_by_first == 100) j.cut_before(2);
    };
    auto const slow = [](std::uint64_t i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return work(i);
    };
    try {
      auto const report = skel::farm(ctx, skel::indices(2 * tasks), slow, skel::schedule::adaptive{}, hear);
      if (rank == 0) first_has_all = true;
      if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
    } catch (...) {
      if (rank == 0) first_has_left = true;
      throw;
    }
    if (rank != 2) return;
    j.cut_before(0);  // the network is whole again, and the first root learns of the others
    for (int i = 0; i < 800 && !first_has_left; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  CHECK(last.attempt == 2);
  CHECK(last.root == 2);
  CHECK(last.size == 3);
  CHECK(last.sum != 0);
  CHECK(first_has_left);
  CHECK_FALSE(first_has_all);
  CHECK(heard_by_first < 2 * tasks);
  CHECK(j.codes == std::vector<int>{1, 1, 0, 0, 0});
}

TEST_CASE("results that wait to be sent are remembered, and those of tasks that run while the root dies") {
  std::uint64_t const own = tasks / 4;  // tasks that the root is dealt
  for (bool const reduced : {false, true}) {
    CAPTURE(reduced);
    job j(4);
    outcome last;
    std::atomic<std::uint64_t> by_others{0}, again{0};
    j.run([&](skel::context& ctx, int rank) {
      auto const first = ctx.attempt() == 1;
      auto const task = [&, first, rank](std::uint64_t i) {
        if (first && rank == 0) {
          for (int waited = 0; by_others < tasks - own && waited < 5000; ++waited)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          j.end(rank);
        }
        ++(first ? by_others : again);
        return work(i);
      };
      skel::farm_options options;
      options.results.concentrated = true;
      std::uint64_t sum = 0;
      skel::result<void> report;
      if (reduced)
        report = skel::farm(ctx, skel::indices(tasks), task, skel::schedule::blocks{},
                            skel::reduced(sum, std::plus<>{}), options);
      else
        report = skel::farm(
            ctx, skel::indices(tasks), task, skel::schedule::blocks{},
            [&](skel::task_id, std::uint64_t x) { sum += x; }, options);
      if (ctx.is_root()) last.set(ctx, rank, sum, report.report);
    });
    CHECK(last.attempt == 2);
    CHECK(last.sum == sum_of(tasks));
    CHECK(again == own);
  }
}

TEST_CASE("results of a team are not taken for those of another one") {
  job j(5);
  outcome last;
  j.run([&](skel::context& ctx, int rank) {
    auto const attempt = ctx.attempt();
    auto const team = ctx.rank() < 2 ? std::vector{0, 1} : std::vector{2, 3};
    std::uint64_t sum = 0;
    if (ctx.rank() < 4) {
      auto own = ctx.team(team);
      (void)skel::farm(
          own, skel::indices(50), [&](std::uint64_t i) { return work(i) * static_cast<unsigned>(attempt); },
          skel::schedule::adaptive{}, [&](skel::task_id, std::uint64_t x) { sum += x; }, serving());
    }
    (void)skel::farm(ctx, skel::indices(10), work, skel::schedule::adaptive{},
                     [&](skel::task_id, std::uint64_t) {
                       if (attempt == 1) j.end(rank);
                     });
    if (ctx.is_root()) last.set(ctx, rank, sum, {});
  });
  CHECK(last.attempt == 2);
  CHECK(last.sum == 2 * sum_of(50));
}

TEST_CASE("units of hosts that live on are not read again") {
  constexpr std::uint64_t units = 60;
  for (unsigned const size : {1U, 2U, 0U})
    for (bool const remembers : {true, false}) {
      CAPTURE(size, remembers);
      job j(5);
      if (!remembers) j.remember = 0;
      outcome last;
      std::vector<std::uint64_t> text;
      std::atomic<int> again{0};
      groups::slices what;
      what.process_time = std::chrono::microseconds(300);
      j.run([&](skel::context& ctx, int rank) {
        auto const attempt = ctx.attempt();
        auto own = what;
        if (attempt > 1) own.processed = &again;
        std::set<std::uint64_t> heard;
        skel::multi_host_options how;
        how.group_size = size;
        how.results = skel::multi_host_options::unit_results::as_they_come;
        std::map<std::uint64_t, std::vector<std::uint64_t>> by_unit;
        auto const report = skel::multi_host(
            ctx, units, own,
            [&](std::uint64_t unit, std::uint64_t piece, auto&& r) {
              auto& to = by_unit[unit];
              to.push_back(unit);
              to.push_back(piece);
              to.insert(to.end(), r.begin(), r.end());
              heard.insert(unit);
              if (heard.size() == units / 2 && attempt == 1) j.end(rank);
            },
            how);
        if (!ctx.is_root()) return;
        last.set(ctx, rank, 0, report.report);
        text.clear();
        for (auto const& [unit, part] : by_unit) text.insert(text.end(), part.begin(), part.end());
      });
      CHECK(last.attempt == 2);
      CHECK(text == what.expected(units));
      auto const& restored = last.report.checkpoint;
      CHECK((restored ? restored->restored_tasks : 0) >= (remembers ? 10U : 0U));
      int all = 0;
      for (std::uint64_t u = 0; u < units; ++u) all += static_cast<int>(what.pieces(u));
      CHECK((again >= all) == !remembers);
    }
}

TEST_CASE("a root that was left out gives its successor no sign of life when it is back") {
  auto const net = std::make_shared<hub::network>(3);
  std::vector<std::shared_ptr<skel::detail::job_wires>> ranks;
  ranks.reserve(3);
  for (int r = 0; r < 3; ++r)
    ranks.push_back(
        std::make_shared<skel::detail::job_wires>(std::make_unique<hub::transport>(net, r), 0.2, true));
  int from_root = 0;
  auto const drive = [&](int r) {
    auto& w = *ranks.at(static_cast<std::size_t>(r));
    w.look(w.carrier().now());
    while (auto const a = w.receive())
      if (r > 0 && a->from == 0) ++from_root;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  net->cut_before(1);
  for (int const r : {1, 2}) ranks[static_cast<std::size_t>(r)]->lost(0, true);
  auto const decided = [&](std::size_t r) { return ranks[r]->over(); };
  for (int i = 0; i < 5000 && !(decided(1) && decided(2)); ++i)
    for (int const r : {1, 2}) drive(r);
  REQUIRE(ranks[1]->enter_next());
  REQUIRE(ranks[2]->enter_next());
  net->cut_before(0);
  ranks[0]->send(1, skel::transport::link().heartbeat());  // is answered by the decision
  for (int i = 0; i < 150; ++i)                            // several ticks
    for (int const r : {0, 1, 2}) drive(r);
  CHECK(decided(0));
  CHECK(from_root == 0);
}

TEST_CASE("a rank hears of a decision from the others, if the rank that announced it died") {
  auto const net = std::make_shared<hub::network>(5);
  std::vector<std::shared_ptr<skel::detail::job_wires>> ranks;
  ranks.reserve(5);
  for (int r = 0; r < 5; ++r)
    ranks.push_back(
        std::make_shared<skel::detail::job_wires>(std::make_unique<hub::transport>(net, r), 0.2, true));
  auto const drive = [&](std::vector<std::size_t> const& which) {
    for (auto const r : which) {
      ranks[r]->look(ranks[r]->carrier().now());
      while (ranks[r]->receive()) continue;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  net->kill(0);
  for (std::size_t const r : {1U, 2U, 3U, 4U}) ranks[r]->lost(0, true);
  for (int i = 0; i < 5000 && !ranks[1]->over(); ++i) drive({4, 3, 2, 1});
  for (int i = 0; i < 5000 && !(ranks[2]->over() && ranks[3]->over()); ++i) drive({2, 3});
  REQUIRE_FALSE(ranks[4]->over());
  net->kill(1);  // with its word to rank 4
  for (std::size_t const r : {2U, 3U}) {
    REQUIRE(ranks[r]->enter_next());
    ranks[r]->lost(1, true);
  }
  for (int i = 0; i < 5000 && !(ranks[2]->over() && ranks[4]->over()); ++i) drive({2, 3, 4});
  for (std::size_t const r : {2U, 4U}) {
    REQUIRE(ranks[r]->enter_next());
    CHECK(ranks[r]->now().number == 3);
    CHECK(ranks[r]->now().members == std::vector{2, 3, 4});
  }
}

TEST_CASE("a rank inside a task helps to agree when the next root is lost, too") {
  auto const net = std::make_shared<hub::network>(4);
  std::vector<std::shared_ptr<skel::detail::job_wires>> ranks;
  ranks.reserve(4);
  for (int r = 0; r < 4; ++r)
    ranks.push_back(
        std::make_shared<skel::detail::job_wires>(std::make_unique<hub::transport>(net, r), 0.2, true));
  auto const drive_until_over = [&](std::vector<std::size_t> const& which, std::size_t last) {
    for (int i = 0; i < 5000 && !ranks[last]->over(); ++i) {
      for (auto const r : which) {
        ranks[r]->look(ranks[r]->carrier().now());
        while (ranks[r]->receive()) continue;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  net->cut_before(1);
  for (std::size_t const r : {1U, 2U, 3U}) ranks[r]->lost(0, true);
  for (std::size_t const last : {1U, 2U, 3U}) drive_until_over({1, 2, 3}, last);
  REQUIRE(ranks[1]->enter_next());
  REQUIRE(ranks[2]->enter_next());  // rank 3 is inside a task
  net->cut_before(2);
  ranks[2]->lost(1, true);
  CHECK(!ranks[2]->over());
  drive_until_over({2, 3}, 2);
  drive_until_over({2, 3}, 3);
  REQUIRE(ranks[2]->over());
  REQUIRE(ranks[2]->enter_next());
  REQUIRE(ranks[3]->enter_next());
  for (std::size_t const r : {2U, 3U}) {
    CHECK(ranks[r]->now().number == 3);
    CHECK(ranks[r]->now().members == std::vector{2, 3});
  }
}

namespace {

// A task of depth d spawns tasks of all smaller depths.
struct tree_sum {
  using task = std::uint64_t;
  using result = std::uint64_t;
  std::atomic<std::uint64_t>* ran;
  void run(task depth, skel::spawner<task>& more, result& sum) const {
    sum += work(depth);
    ++*ran;
    for (task i = 0; i < depth; ++i) more(i);
  }
  [[nodiscard]] result merge(result a, result b) const { return a + b; }
};

struct merge_sort {
  using numbers = std::vector<std::uint64_t>;
  using problem = numbers;
  using solution = numbers;
  std::atomic<std::uint64_t>* ran;
  [[nodiscard]] bool trivial(problem const& p) const { return p.size() < 2; }
  [[nodiscard]] solution conquer(problem const& p) const { return p; }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  [[nodiscard]] solution combine(solution const& a, solution const& b) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++*ran;
    solution both(a.size() + b.size());
    std::ranges::merge(a, b, both.begin());
    return both;
  }
};

}  // namespace

TEST_CASE("values of calls that are complete are not computed again") {
  constexpr std::uint64_t depth = 8;  // 2^8 tasks
  merge_sort::numbers const list{5, 3, 8, 1, 9, 2, 7, 4, 6, 0};
  for (int const losses : {1, 2})
    for (bool const remembers : {true, false})
      for (bool const same : {true, false}) {  // the tasks of the last attempt
        CAPTURE(losses, remembers, same);
        job j(4);
        if (!remembers) j.remember = 0;
        outcome last;
        std::atomic<std::uint64_t> steals{0}, streamed{0}, sorts{0}, all{0};
        std::atomic<int> right{0};
        std::uint64_t restored = 0;
        j.run([&](skel::context& ctx, int rank) {
          auto const attempt = ctx.attempt();
          bool const again = attempt > losses;
          std::atomic<std::uint64_t> early{0};
          auto const top = again && !same ? depth - 1 : depth;
          std::vector const replicated{top};
          auto const [a, first] =
              skel::ring_steal(ctx, skel::replicated(replicated), tree_sum{again ? &steals : &early});
          auto const [b, second] = skel::ring_steal(ctx, skel::on_root([&] { return std::vector{top}; }),
                                                    tree_sum{again ? &streamed : &early});
          auto numbers = list;
          if (again && !same) std::ranges::reverse(numbers);
          auto const [sorted, third] =
              skel::divide_and_conquer(ctx, skel::replicated_problem(numbers),
                                       merge_sort{again ? &sorts : &early}, skel::division::hypercube{});
          merge_sort::numbers const expected{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
          if (again && *sorted == expected && a == b) ++right;
          skel::farm(ctx, skel::indices(20), work, skel::schedule::adaptive{},
                     [&](skel::task_id id, std::uint64_t) {
                       if (id == 10 && !again) j.end(rank);
                     });
          if (!ctx.is_root()) return;
          all = a;
          last.set(ctx, rank, a, first);
          for (auto const& r : {first, second, third})
            if (r.checkpoint) restored += r.checkpoint->restored_tasks;
        });
        CHECK(last.attempt == losses + 1);
        CHECK(right == 4 - losses);
        std::uint64_t const count = same ? 256 : 128;
        std::uint64_t sum = 0;
        for (std::uint64_t d = 0; d <= (same ? depth : depth - 1); ++d) {
          std::uint64_t const top = same ? depth : depth - 1,
                              n = d == top ? 1 : std::uint64_t{1} << (top - d - 1);
          sum += n * value_of(d);
        }
        CHECK(all == sum);
        bool const recalled = remembers && same;
        CHECK(steals == (recalled ? 0 : count));
        CHECK(streamed == (recalled ? 0 : count));
        CHECK((sorts == 0) == recalled);
        CHECK(restored == (recalled ? 256U + 256U + 1U : 0U));
      }
}

TEST_CASE("a context that the body has kept is refused in the next attempt, and disturbs it in nothing") {
  job j(3);
  outcome last;
  std::array<std::optional<skel::context>, 3> kept;
  std::array<std::string, 3> refusals;
  std::string const refusal = "a context of an earlier attempt: make it anew from that of the body";
  j.run([&](skel::context& ctx, int rank) {
    auto& mine = kept.at(static_cast<std::size_t>(rank));
    auto const attempt = ctx.attempt();
    if (attempt == 1) mine = ctx.team({ctx.rank()});
    std::uint64_t sum = 0, heard = 0;
    auto const [report] = skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
                                     [&](skel::task_id, std::uint64_t x) {
                                       sum += x;
                                       if (++heard == 100 && attempt == 1) j.end(rank);
                                     });
    if (ctx.is_root()) last.set(ctx, rank, sum, report);
    if (attempt == 1) return;
    auto later = mine->team({0});
    for (auto* const old : {&*mine, &later}) try {
        skel::farm(*old, skel::indices(1), work, [](skel::task_id, std::uint64_t) {});
      } catch (skel::usage_error const& bad) {
        refusals.at(static_cast<std::size_t>(rank)) += bad.what();
      }
  });
  CHECK(last.attempt == 2);
  CHECK(last.sum == sum_of(tasks));
  for (std::size_t const r : {1U, 2U}) CHECK(refusals.at(r) == refusal + refusal);
}
