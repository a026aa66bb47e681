// Explores every order of events of small farms, with a death at every step.
#include <string>

#include "catch.hpp"
#include "fewer.hpp"
#include "harness.hpp"
#include "protocol/deal.hpp"

namespace {

farm_harness::scenario small(char const* schedule, int ranks, std::uint64_t tasks) {
  farm_harness::scenario s;
  s.seed = 0;
  s.thorough = true;
  s.ranks = ranks;
  s.tasks = tasks;
  s.policy = skel::any_schedule(schedule).policy();
  if (s.policy.start == skel::schedule::start_with::weighted)
    s.policy.power.assign(static_cast<std::size_t>(ranks), 1.0);
  s.deaths = ranks - 1;
  return s;
}

harness_common::exploration try_all(std::string const& what, farm_harness::scenario const& s, int early_ticks,
                                    std::uint64_t most = 3000000) {
  auto const found = harness_common::explore(farm_harness::world(s), early_ticks, most);
  found.print(what);
  return found;
}

char const* const schedules[] = {"auto",
                                 "blocks",
                                 "interleaved",
                                 "first-come",
                                 "first-come:threshold=0",
                                 "first-come:early=no",
                                 "guided",
                                 "hybrid:cut=1",
                                 "ring",
                                 "ring:take=one,takeover=predecessor"};

}  // namespace

TEST_CASE("two ranks, every order of events, a death at every step") {
  for (char const* how : schedules)
    for (std::uint64_t tasks : {0U, 1U, 2U, 3U}) {
      auto s = small(how, 2, tasks);
      INFO(how << ", " << tasks);
      auto const found =
          try_all(std::string(how) + ", 2 ranks, " + std::to_string(tasks) + " tasks", s, tasks < 3 ? 1 : 0);
      CHECK(found.complete);
      CHECK(found.ends > 0);
    }
}

TEST_CASE("two ranks that resume an earlier run") {
  for (char const* how : schedules)
    for (std::vector<skel::task_id> const& restored : {std::vector<skel::task_id>{0}, {1, 2}, {0, 1, 2}}) {
      auto s = small(how, 2, 3);
      s.resumed = true;
      s.restored = restored;
      INFO(how << ", " << restored.size());
      auto const found = try_all(std::string(how) + ", resumed, " + std::to_string(restored.size()) + " of 3",
                                 s, restored.size() == 1 ? 0 : 1);
      CHECK(found.complete);
      CHECK(found.ends > 0);
    }
}

TEST_CASE("two ranks with merged, concentrated, windowed and streamed results") {
  auto s = small("first-come", 2, 2);
  s.merged = true;
  CHECK(try_all("merged", s, 1).complete);
  s.results = skel::results::concentrated();
  CHECK(try_all("merged, concentrated", s, 1).complete);
  s = small("interleaved", 2, 3);
  s.results = skel::results::concentrated();
  CHECK(try_all("interleaved, concentrated", s, 1).complete);
  s = small("first-come:threshold=0", 2, 2);
  s.stream = true;
  s.ordered = true;
  s.window = 1;
  CHECK(try_all("a stream, ordered, window 1", s, 0).complete);
  s = small("guided", 2, 2);
  s.root_serves = true;
  CHECK(try_all("the root serves", s, 1).complete);
}

TEST_CASE("two ranks with a false suspicion at every step") {
  for (char const* how : schedules) {
    auto s = small(how, 2, 2);
    s.deaths = 0;
    s.suspicions = 1;
    CHECK(try_all(std::string(how) + ", suspicion", s, 0).complete);
    s.merged = true;
    CHECK(try_all(std::string(how) + ", suspicion, merged", s, 0).complete);
  }
}

TEST_CASE("three ranks, one death at every step") {
  for (char const* how : schedules) {
    auto s = small(how, 3, 2);
    s.deaths = 1;
    auto const found = try_all(std::string(how) + ", 3 ranks, 2 tasks", s, 0,
                               harness_common::runs_wanted(0) > 0 ? 20000000 : test::fewer_if_slow(60000));
    CHECK(found.ends > 0);
  }
}

TEST_CASE("three ranks and a task that kills every rank that runs it") {
  for (char const* how : schedules)
    for (std::vector<skel::task_id> const& poison : {std::vector<skel::task_id>{0}, {1}}) {
      auto s = small(how, 3, 2);
      s.deaths = 0;
      s.root_serves = true;
      s.poison = poison;
      s.most_losses = 2;
      auto const found = try_all(std::string(how) + ", task " + std::to_string(poison[0]) + " kills", s, 0,
                                 harness_common::runs_wanted(0) > 0 ? 20000000 : test::fewer_if_slow(60000));
      CHECK(found.ends > 0);
    }
}

TEST_CASE("the ring with payloads, with concentrated and with merged results") {
  auto s = small("ring", 2, 2);
  s.results = skel::results::concentrated();
  CHECK(try_all("ring, concentrated", s, 1).complete);
  s.merged = true;
  CHECK(try_all("ring, concentrated, merged", s, 0).complete);
  s = small("ring", 2, 2);
  s.policy = skel::for_stream(s.policy);
  s.stream = true;
  s.window = 2;
  CHECK(try_all("ring, a stream", s, 0).complete);
}

TEST_CASE("the ring of three and four ranks, every order of events, no deaths") {
  for (char const* how : {"ring", "ring:take=one", "ring:order=predecessors", "ring:order=doubling"}) {
    auto s = small(how, 3, 3);
    s.deaths = 0;
    s.root_serves = true;
    CHECK(try_all(std::string(how) + ", 2 of 3 ranks, 3 tasks", s, 0).complete);
    s = small(how, 4, 1);
    s.deaths = 0;
    s.root_serves = true;
    try_all(std::string(how) + ", 3 of 4 ranks, 1 task", s, 0,
            harness_common::runs_wanted(0) > 0 ? 20000000 : test::fewer_if_slow(60000));
  }
}

TEST_CASE("all states have different hashes in a run that keeps the states") {
  auto s = small("first-come", 2, 1);
  auto const exact = harness_common::explore<true>(farm_harness::world(s), 1, 100000);
  auto const hashed = harness_common::explore(farm_harness::world(s), 1, 100000);
  CHECK(exact.complete);
  CHECK(exact.states == hashed.states);
}
