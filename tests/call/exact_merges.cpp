// Built-in exact merges, against plain loops over the same values.
#include "skel/exact_merges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "farm/over_hub.hpp"
#include "skel/reproducible_sum.hpp"
#include "skel/skel.hpp"
#include "values.hpp"

namespace {

using skel::histogram, skel::maximum, skel::merged_map, skel::minimum;
using test::infinity, test::nan_value, test::packed;
using words = merged_map<std::string, std::uint64_t>;

// Ties, both zeros, values outside of all bins, and NaN.
double value_of(std::uint64_t task) {
  if (task % 41 == 40) return nan_value;
  if (task % 29 == 3) return task % 2 == 0 ? 0.0 : -0.0;
  return std::floor(std::sin(static_cast<double>(task)) * 50) / 8;
}

// Everything at once; no member is an integer.
struct summary {
  minimum<double> least{};
  maximum<double> most{};
  histogram bins{};
  words remainders{};
  merged_map<int, skel::reproducible_sum<double>> sums{};
  friend summary operator+(summary a, summary const& b) {
    a.least += b.least;
    a.most += b.most;
    a.bins += b.bins;
    a.remainders += b.remainders;
    a.sums += b.sums;
    return a;
  }
};

summary of_task(std::uint64_t task) {
  double const x = value_of(task);
  summary s{minimum<double>(x, task), maximum<double>(x, task), histogram(-5, 5, 16)};
  s.bins.add(x);
  s.remainders[std::to_string(task % 17)] += task;
  if (!std::isnan(x)) s.sums[static_cast<int>(task % 3)] += x / 3;
  return s;
}

}  // namespace

template <>
inline constexpr bool skel::exact_merge<summary> = true;

TEST_CASE("farms of exact merges have the values of a loop, and the same bytes on any ranks") {
  constexpr std::uint64_t tasks = 500;
  double least = infinity, most = -infinity;
  std::uint64_t least_of = 0, most_of = 0, below = 0, above = 0, nans = 0;
  std::vector<std::uint64_t> bins(16);
  std::map<std::string, std::uint64_t> remainders;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    double const x = value_of(i);
    remainders[std::to_string(i % 17)] += i;
    if (x < least) least = x, least_of = i;
    if (x > most) most = x, most_of = i;
    below += x < -5, above += x >= 5, nans += std::isnan(x);
    for (std::size_t b = 0; b < 16; ++b)
      bins[b] += x >= -5 + 0.625 * static_cast<double>(b) && x < -5 + 0.625 * static_cast<double>(b + 1);
  }
  REQUIRE((below > 0 && above > 0 && nans > 0));
  std::vector<std::byte> first;
  for (int const ranks : {1, 2, 3, 7})
    for (auto const* schedule : {"auto", "guided", "interleaved", "ring"})
      for (auto const& results : {skel::results::streamed(), skel::results::concentrated()}) {
        INFO(ranks << ' ' << schedule);
        hub::job job(ranks, 2);
        auto const total = job.run_well([&](skel::context& ctx) {
          summary all;
          skel::farm(ctx, skel::indices(tasks), of_task, skel::any_schedule(schedule), skel::reduced(all),
                     {.results = results});
          return all;
        });
        CHECK((total.least.value() == least && total.least.task() == least_of));
        CHECK((total.most.value() == most && total.most.task() == most_of));
        CHECK(total.bins.counts() == bins);
        CHECK((total.bins.below() == below && total.bins.above() == above && total.bins.nans() == nans));
        CHECK(total.remainders.entries == remainders);
        if (first.empty()) first = packed(total);
        CHECK(packed(total) == first);
      }
}

TEST_CASE("a farm of no tasks, or of one, merges exactly, and so do two in a row") {
  hub::job job(3, 1);
  auto const total = job.run_well([&](skel::context& ctx) {
    minimum<int> all;
    skel::farm(
        ctx, skel::indices(0), [](std::uint64_t i) { return minimum<int>(7, i); }, skel::reduced(all));
    bool const none = !all.has_value();
    skel::farm(
        ctx, skel::indices(1), [](std::uint64_t i) { return minimum<int>(7, i); }, skel::reduced(all));
    skel::farm(
        ctx, skel::indices(5), [](std::uint64_t i) { return minimum<int>(9, i); }, skel::reduced(all));
    return none ? all : minimum<int>();
  });
  CHECK(total == minimum<int>(7, 0));
}

TEST_CASE("extremes: ties go to the lowest task, NaN counts as no value") {
  using least = minimum<double>;
  CHECK_FALSE(least(nan_value, 3).has_value());
  CHECK((least(nan_value, 3) + least(2, 9)).task() == 9);
  CHECK((least(2, 9) + least(2, 4) + least(2, 5)).task() == 4);
  CHECK((maximum<int>(2, 9) + maximum<int>(3, 10) + maximum<int>(3, 11)).task() == 10);
  CHECK((least(0.0, 1) + least(-0.0, 0)).task() == 0);  // the zeros are a tie
  for (auto const& merged : {least(0.0, 1) + least(-0.0, 1), least(-0.0, 1) + least(0.0, 1)})
    CHECK(std::signbit(merged.value()));
  CHECK((least(infinity, 0) + least()).value() == infinity);
}

TEST_CASE("a histogram counts each number once, at the edges of its bins, too") {
  histogram h(0, 1, 10);
  for (double const x : {0.0, -0.0, 0.05, 0.95, std::nextafter(1.0, 0.0)}) h.add(x);
  h.add(1);
  h.add(-infinity, 2);
  h.add(nan_value);
  CHECK(h.counts() == std::vector<std::uint64_t>{3, 0, 0, 0, 0, 0, 0, 0, 0, 2});
  CHECK((h.below() == 2 && h.above() == 1 && h.nans() == 1));
  double const most = std::numeric_limits<double>::max();
  histogram wide(-most, most, 2);
  wide.add(-most / 2);
  wide.add(most / 2);
  CHECK(wide.counts() == std::vector<std::uint64_t>{1, 1});
  auto const bytes = packed(h);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::span<std::byte const> in(bytes.data(), n);
    CHECK_THROWS_AS(skel::unpack<histogram>(in), skel::protocol_error);
  }
  std::span<std::byte const> in = bytes;
  CHECK(skel::unpack<histogram>(in) == h);
}

TEST_CASE("bytes of a histogram with wrong ends are refused") {
  for (double const low : {nan_value, -infinity, 1.0, 2.0}) {
    auto bytes = packed(histogram(0, 1, 10));
    std::memcpy(bytes.data(), &low, sizeof low);
    std::span<std::byte const> in = bytes;
    CHECK_THROWS_AS(skel::unpack<histogram>(in), skel::protocol_error);
  }
}

TEST_CASE("histograms with other bins are refused, on every rank") {
  for (auto const& make :
       {+[] { return histogram(0, 1, 0); }, +[] { return histogram(1, 1, 3); },
        +[] { return histogram(nan_value, 1, 3); }, +[] { return histogram(0, infinity, 3); }})
    CHECK_THROWS_AS(make(), skel::usage_error);
  CHECK((histogram() + histogram(0, 1, 3)) == histogram(0, 1, 3));
  CHECK((histogram(0, 1, 3) + histogram()) == histogram(0, 1, 3));
  CHECK_THROWS_AS(histogram(0, 1, 3) + histogram(0, 1, 4), skel::usage_error);
  hub::job job(2, 1);
  job.run([](skel::context& ctx) {
    histogram all;
    skel::farm(
        ctx, skel::indices(40), [](std::uint64_t i) { return histogram(0, 1, 1 + i % 2); },
        skel::reduced(all));
  });
  for (int const rank : {0, 1})
    CHECK(job.error(rank).find("histograms with other bins: expected ") != std::string::npos);
}
