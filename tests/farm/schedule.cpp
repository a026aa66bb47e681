// Deals, grants, and the names of schedules.
#include "skel/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "protocol/deal.hpp"
#include "protocol/task_costs.hpp"
#include "skel/error.hpp"

using skel::any_schedule;
using skel::range_list;
using skel::task_id;

namespace {

void count_in(std::vector<int>& seen, skel::task_range const& r) {
  for (std::uint64_t i = 0; i < r.count; ++i) ++seen.at(r[i]);
}

std::string error_of(std::string const& spec) {
  try {
    static_cast<void>(any_schedule(spec));
  } catch (skel::usage_error const& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every deal gives every task to one worker") {
  std::mt19937_64 dice(3);
  for (int turn = 0; turn < 3000; ++turn) {
    int const workers = 1 + static_cast<int>(dice() % 20);
    std::uint64_t const tasks = dice() % 200;
    std::vector<int> blocks(tasks), strided(tasks), weighted(tasks);
    std::uint64_t least = tasks, most = 0;
    for (int w = 0; w < workers; ++w) {
      auto const part = skel::contiguous_share(tasks, workers, w);
      least = std::min(least, part.count);
      most = std::max(most, part.count);
      count_in(blocks, part);
      count_in(strided, skel::interleaved_share(tasks, workers, w));
    }
    std::vector<double> power;
    power.reserve(static_cast<std::size_t>(workers));
    for (int w = 0; w < workers; ++w) power.push_back(0.1 + static_cast<double>(dice() % 1000) / 100);
    for (auto const& share : skel::weighted_shares(tasks, power))
      for (auto const& r : share) count_in(weighted, r);
    std::vector<int> const once(tasks, 1);
    REQUIRE(blocks == once);
    REQUIRE(strided == once);
    REQUIRE(weighted == once);
    REQUIRE(most - least <= 1);
  }
}

TEST_CASE("parts of known costs are even, as far as single tasks allow") {
  std::mt19937_64 dice(5);
  for (int turn = 0; turn < 3000; ++turn) {
    int const workers = 1 + static_cast<int>(dice() % 20);
    std::vector<double> each(dice() % 200);
    for (auto& c : each) c = static_cast<double>(dice() % 10 * (dice() % 7 == 0 ? 50 : 1));
    std::sort(each.begin(), each.end(), std::greater<>());
    skel::task_costs const costs(each);
    std::vector<int> seen(each.size());
    double left = costs.of({0, each.size(), 1});
    REQUIRE(left == std::accumulate(each.begin(), each.end(), 0.0));
    for (int w = 0; w < workers; ++w) {
      auto const part = skel::contiguous_share(each.size(), workers, w, costs);
      count_in(seen, part);
      if (w + 1 < workers) REQUIRE((part.count <= 1 || costs.of(part) <= left / (workers - w)));
      left -= costs.of(part);
      REQUIRE((!part.empty() || left == 0));
    }
    REQUIRE(seen == std::vector<int>(each.size(), 1));
  }
}

TEST_CASE("costs of ranges with and without a stride, and how many tasks fit") {
  skel::task_costs const costs({8, 4, 2, 2, 1, 0, 0});
  CHECK(costs.of({1, 3, 1}) == 8);
  CHECK(costs.of({0, 3, 2}) == 11);
  CHECK(costs.of({3, 0, 1}) == 0);
  CHECK(costs.fitting({0, 7, 1}, 7.5) == 0);
  CHECK(costs.fitting({0, 7, 1}, 12) == 2);
  CHECK(costs.fitting({0, 3, 2}, 10) == 2);
  CHECK(costs.fitting({4, 3, 1}, 1) == 3);
  CHECK(costs.of_these({{1, 2, 2}, {0, 1, 1}}) == skel::task_costs({4, 2, 8}));
  CHECK_FALSE(skel::task_costs().known());
  CHECK(skel::task_costs().of({5, 3, 2}) == 3);
}

TEST_CASE("powers 1, 2, 1 are dealt in the order w1, w2, w3, w2") {  // [Lee97, §2]
  std::vector<double> const power{1, 2, 1};
  auto const shares = skel::weighted_shares(8, power);
  std::vector<int> order(8);
  for (std::size_t w = 0; w < 3; ++w)
    for (auto const& r : shares[w])
      for (std::uint64_t i = 0; i < r.count; ++i) order[r[i]] = static_cast<int>(w) + 1;
  CHECK(order == std::vector<int>{1, 2, 3, 2, 1, 2, 3, 2});
}

TEST_CASE("fractional powers get their proportion") {
  std::vector<double> const power{1, 0.442, 1.347, 1.96};  // as in [Lee97, table 1]
  double const total = 1 + 0.442 + 1.347 + 1.96;
  for (std::uint64_t tasks : {100U, 1000U, 10000U}) {
    auto const shares = skel::weighted_shares(tasks, power);
    for (std::size_t w = 0; w < power.size(); ++w) {
      double const ideal = static_cast<double>(tasks) * power[w] / total;
      CHECK(std::abs(static_cast<double>(skel::count_tasks(shares[w])) - ideal) < 2.0);
    }
  }
}

TEST_CASE("grants are whole chunks or a shrinking share, never more than the rest") {
  auto const fixed = skel::schedule::first_come{.chunk = 4}.policy();
  CHECK(skel::next_grant(fixed, 100, 1, 1, 8) == 4);
  CHECK(skel::next_grant(fixed, 100, 5, 1, 8) == 8);
  CHECK(skel::next_grant(fixed, 3, 5, 1, 8) == 3);
  auto const guided = skel::schedule::guided{.min = 2}.policy();
  CHECK(skel::next_grant(guided, 1600, 1, 1, 8) == 100);
  CHECK(skel::next_grant(guided, 1600, 1, 2, 8) == 200);
  CHECK(skel::next_grant(guided, 10, 1, 1, 8) == 2);
  CHECK(skel::next_grant(guided, 1, 1, 1, 8) == 1);
  std::uint64_t left = 100000, grants = 0;
  for (; left > 0; ++grants) left -= skel::next_grant(guided, left, 1, 1, 8);
  CHECK(grants < 200);
}

TEST_CASE("schedules survive a round trip as text") {
  for (char const* spec :
       {"auto", "blocks", "interleaved", "first-come", "first-come:chunk=4", "first-come:threshold=0",
        "first-come:chunk=2,threshold=7", "first-come:early=no", "guided", "guided:min=8",
        "hybrid:cut=80%,threshold=1", "hybrid:cut=400,threshold=3",
        "hybrid:cut=12.5%,threshold=1,power=1/0.442/1.347", "ring", "ring:take=one", "ring:give=next",
        "ring:order=doubling,takeover=predecessor", "ring:copies=yes"}) {
    CHECK(any_schedule(spec).to_string() == spec);
    CHECK(any_schedule(any_schedule(spec).to_string()).policy() == any_schedule(spec).policy());
  }
  for (char const* spec : {"streamed", "streamed:batch=9", "concentrated"})
    CHECK(skel::to_string(skel::parse_results(spec)) == spec);
}

TEST_CASE("what happens on errors survives a round trip as text") {
  using skel::parse_on_error;
  CHECK(parse_on_error("stop") == skel::error_policy(skel::on_error::stop{}));
  CHECK(parse_on_error("retry") == skel::error_policy(skel::on_error::retry{}));
  CHECK(parse_on_error("collect") == skel::error_policy(skel::on_error::collect{}));
  CHECK(parse_on_error("retry:elsewhere=no,times=5") ==
        skel::error_policy(skel::on_error::retry{.times = 5, .elsewhere = false}));
  CHECK(parse_on_error("collect:times=2,elsewhere=yes") ==
        skel::error_policy(skel::on_error::collect{.times = 2}));
  for (char const* spec : {"stop", "retry:times=3", "retry:times=2,elsewhere=no", "collect:times=1",
                           "collect:times=4294967295,elsewhere=no"})
    CHECK(skel::to_string(parse_on_error(spec)) == spec);
  CHECK(skel::to_string(parse_on_error("retry:times=1")) == "stop");
}

TEST_CASE("powers keep all their digits when written") {
  skel::schedule::hybrid h;
  h.power = {1.0 / 3, 123456.789};
  any_schedule const s(h);
  CHECK(any_schedule(s.to_string()).policy().power == h.power);
}

TEST_CASE("errors of a schedule name the fault and the known names") {
  auto const says = [](std::string const& spec, std::string const& part) {
    INFO(spec << ": " << error_of(spec));
    CHECK(error_of(spec).find(part) != std::string::npos);
  };
  says("fastest", "unknown schedule \"fastest\"; known: auto, blocks, interleaved, first-come");
  says("", "known: auto, blocks");
  says("guided:min=1,min=2", "min stands twice");
  says("blocks:x=1", "unknown option \"x=1\"; known: none");
  says("first-come:min=1", "known: chunk=N, threshold=N");
  says("first-come:chunk=0", "chunk must be a whole number of at least 1, found \"0\"");
  says("first-come:chunk=", "found \"\"");
  says("first-come:chunk=1x", "found \"1x\"");
  says("first-come:chunk=99999999999999999999", "whole number");
  says("guided:", "expected an option after the colon");
  says("hybrid:cut=101%", "between 0% and 100%");
  says("hybrid:cut=nan%", "must be a number");
  says("hybrid:power=0", "power must be positive");
  says("hybrid:power=1/-1", "power must be positive");
  says("ring:take=all", "take must be one or half, found \"all\"");
  says("ring:order=random", "order must be successors or predecessors or doubling");
  says("ring:chunk=2", "known: take=one|half");
  auto const policy = [](std::string const& spec, std::string const& text) {
    CHECK_THROWS_WITH(skel::parse_on_error(spec), text);
  };
  auto const known = "; known: stop, retry[:times=N,elsewhere=yes|no], collect[:times=N,elsewhere=yes|no]";
  policy("", std::string("unknown choice \"\"") + known);
  policy("ignore", std::string("unknown choice \"ignore\"") + known);
  policy("stop:times=2", std::string("unknown choice \"stop:times=2\"") + known);
  policy("retry:", "\"retry:\": expected an option after the colon");
  policy("retry:times=0", "\"retry:times=0\": times must be a whole number of at least 1, found \"0\"");
  policy("retry:times=4294967296",
         "\"retry:times=4294967296\": times must be a whole number of at least 1, found \"4294967296\"");
  policy("retry:times=1,times=2", "\"retry:times=1,times=2\": times stands twice");
  policy("collect:elsewhere=maybe",
         "\"collect:elsewhere=maybe\": elsewhere must be no or yes, found \"maybe\"");
  policy("collect:tries=2",
         "\"collect:tries=2\": unknown option \"tries=2\"; known: times=N, elsewhere=yes|no");
  CHECK_THROWS_WITH(skel::parse_results("later"), Catch::Contains("streamed[:batch=N], concentrated"));
}
