// The sizes that a farm chooses for its teams.
#include "skel/team_size.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"

namespace {

// The end of the list schedule, step by step: each rank with the time when it is free.
double end_of(std::vector<int> const& sizes, std::vector<skel::amdahl> const& list, int ranks) {
  std::vector<double> free_at(static_cast<std::size_t>(ranks));
  double end = 0, latest_start = 0;
  std::vector<std::size_t> longest_first(list.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](auto a, auto b) { return list[a].seconds(sizes[a]) > list[b].seconds(sizes[b]); });
  for (int n = ranks; n >= 1; --n)
    for (auto const i : longest_first) {
      if (sizes[i] != n) continue;
      std::sort(free_at.begin(), free_at.end());
      latest_start = std::max(latest_start, free_at[static_cast<std::size_t>(n - 1)]);
      double const done = latest_start + list[i].seconds(n);
      for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) free_at[r] = done;
      end = std::max(end, done);
    }
  return end;
}

std::vector<int> chosen(std::vector<skel::amdahl> const& list, int ranks) {
  auto const size = skel::team_size::chosen([&](skel::task_id i, int n) { return list[i].seconds(n); });
  return size.sizes(0, list.size(), ranks);
}

}  // namespace

TEST_CASE("chosen teams: serial tasks on one rank, one task on all") {
  CHECK(chosen(std::vector<skel::amdahl>(100, {1, 0}), 8) == std::vector<int>(100, 1));
  CHECK(chosen({{0.01, 1}}, 8) == std::vector{8});
  CHECK(chosen({}, 8).empty());
  CHECK(chosen({{1, 1}, {2, 1}}, 1) == std::vector{1, 1});
  // More tasks than ranks, of the same length: one round of small teams, not several of large ones.
  CHECK(chosen(std::vector<skel::amdahl>(64, {0.1, 0.9}), 64) == std::vector<int>(64, 1));
}

TEST_CASE("chosen teams end within 5 % of the best size for all, on any list") {
  std::mt19937_64 dice(7);
  double worst = 0, best = 9;
  for (int run = 0; run < 60; ++run) {
    int const ranks = 1 << (1 + run % 6);
    std::vector<skel::amdahl> list(1 + dice() % 200);
    for (auto& t : list) {
      double const whole = std::exp(static_cast<double>(dice() % 1000) / 300);
      double const serial = 0.3 * static_cast<double>(dice() % 1000) / 1000;
      t = {whole * serial, whole * (1 - serial)};
    }
    double fixed = 1e300;
    for (int n = 1; n <= ranks; ++n)
      fixed = std::min(fixed, end_of(std::vector<int>(list.size(), n), list, ranks));
    double const ours = end_of(chosen(list, ranks), list, ranks) / fixed;
    worst = std::max(worst, ours);
    best = std::min(best, ours);
  }
  CHECK(worst <= 1.05);
  CHECK(best < 0.9);  // sizes that differ are worth it
}

TEST_CASE("Amdahl's law through two measurements") {
  auto const a = skel::amdahl::through(1, 10, 4, 4);
  CHECK(a.serial_seconds == Approx(2));
  CHECK(a.parallel_seconds == Approx(8));
  CHECK(a.seconds(8) == Approx(3));
  CHECK(skel::amdahl::through(1, 1, 2, 5).parallel_seconds == 0);
  CHECK(skel::amdahl::through(1, 8, 2, 1).serial_seconds == Approx(0).margin(1e-12));
  CHECK_THROWS_AS(skel::amdahl::through(2, 1, 2, 1), skel::usage_error);
  CHECK_THROWS_AS(skel::amdahl::through(1, 0, 2, 1), skel::usage_error);
}

TEST_CASE("times and sizes that make no sense are refused") {
  auto const nan = skel::team_size::chosen([](skel::task_id, int) { return std::nan(""); });
  CHECK_THROWS_AS(nan.sizes(0, 3, 4), skel::usage_error);
  skel::team_size const negative = [](skel::task_id i) { return i == 2 ? -1 : 1; };
  CHECK_THROWS_AS(negative.sizes(0, 3, 4), skel::usage_error);
  CHECK(skel::team_size(3).sizes(5, 7, 2) == std::vector{3, 3});
}
