// Spare ranks stand in for ranks that are lost or leave.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "attempts.hpp"
#include "catch.hpp"
#include "disks/store_of_three.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"

using namespace attempts_test;

namespace {

constexpr std::uint64_t tasks = 400;

// What a farm has done when its job is over.
struct record {
  std::array<std::atomic<int>, tasks> runs{};
  std::atomic<int> attempt{0}, size{0}, root{-1};
  std::atomic<std::uint64_t> sum{0};
  skel::report report;
  [[nodiscard]] std::ptrdiff_t again() const {
    return std::ranges::count_if(runs, [](int n) { return n > 1; });
  }
  [[nodiscard]] bool all_ran() const {
    return std::ranges::all_of(runs, [](int n) { return n > 0; });
  }
};

enum class event : std::uint8_t { dies, retires };

// One farm. Once the root has heard of `at` results, this happens to the rank `who` in the first attempt.
void run_farm(job& j, record& r, int who, event what, std::uint64_t at = 150,
              skel::farm_policy const& how = skel::schedule::adaptive{}.policy(), bool root_works = true) {
  std::atomic<bool> now{false};
  j.run([&](skel::context& ctx, int rank) {
    std::uint64_t sum = 0, heard = 0;
    auto const attempt = ctx.attempt();
    skel::farm_options options{.task = {.run_once = true}};
    options.root_works = root_works;
    auto const [report] = skel::farm(
        ctx, skel::indices(tasks),
        [&, attempt](std::uint64_t i) {
          if (attempt == 1 && rank == who && now) {
            if (what == event::dies) j.end(rank);
            ctx.retire();
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++r.runs[i];
          return value_of(i);
        },
        how,
        [&](skel::task_id, std::uint64_t x) {
          sum += x;
          if (++heard == at) now = true;
          if (attempt == 1 && now && rank == who && !root_works) j.end(rank);
        },
        options);
    if (!ctx.is_root()) return;
    r.attempt = attempt;
    r.size = ctx.size();
    r.root = rank;
    r.sum = sum;
    r.report = report;
  });
}

}  // namespace

TEST_CASE("a rank of a farm dies: a spare one stands in, and little runs again") {
  using namespace skel::schedule;
  std::vector<skel::farm_policy> const schedules{adaptive{}.policy(), guided{}.policy(),
                                                 first_come{3}.policy(), blocks{}.policy(), ring{}.policy()};
  for (auto const& how : schedules)
    for (int const ranks : {2, 4}) {
      CAPTURE(to_string(how), ranks);
      job j(ranks + 1);
      j.spares = 1;
      record r;
      run_farm(j, r, ranks - 1, event::dies, 150, how);
      CHECK(r.sum == sum_of(tasks));
      CHECK(r.attempt == 2);
      CHECK(r.size == ranks);
      CHECK(r.root == 0);
      CHECK(r.again() <= 60);  // what the lost rank had computed, and not sent
      REQUIRE(r.report.losses.size() == 1);
      CHECK(r.report.losses[0].rank == ranks - 1);
      CHECK_FALSE(r.report.losses[0].was_root);
      for (int k = 0; k <= ranks; ++k)
        if (k != ranks - 1) CHECK(j.codes[static_cast<std::size_t>(k)] == 0);
    }
}

TEST_CASE("the root dies, and a spare rank joins the others") {
  for (bool const works : {true, false}) {
    CAPTURE(works);
    job j(5);
    j.spares = 2;
    record r;
    run_farm(j, r, 0, event::dies, 150, skel::schedule::adaptive{}.policy(), works);
    CHECK(r.sum == sum_of(tasks));
    CHECK(r.attempt == 2);
    CHECK(r.size == 3);
    CHECK(r.root == 1);
    CHECK(j.codes[4] == 0);  // was not needed
  }
}

TEST_CASE("a rank retires: a spare one stands in, and no task runs twice") {
  for (int const leaver : {2, 0}) {
    CAPTURE(leaver);
    job j(4);
    j.spares = 1;
    record r;
    run_farm(j, r, leaver, event::retires);
    CHECK(r.sum == sum_of(tasks));
    CHECK(r.attempt == 2);
    CHECK(r.size == 3);
    CHECK(j.retired == 1);
    if (leaver != 0) CHECK(r.again() == 0);
  }
}
