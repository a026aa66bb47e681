// Ranks leave in the middle of a bsp call: the others go on from where they were.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "attempts.hpp"
#include "bsp/over_hub.hpp"
#include "catch.hpp"
#include "disks/store_of_three.hpp"
#include "skel/skel.hpp"

namespace bsp_retirement_test {

using namespace attempts_test;

namespace {

struct setting {
  std::vector<int> leavers{};  // as numbered in the job
  bool in_memory = false;
  bool saves = true;
  int ranks = 4;
};

struct at_end {
  std::vector<std::uint64_t> cells;
  skel::report report;
  int repeated = 0;  // supersteps, on one rank
};

template <class Circle>
at_end run(setting const& s, job& j) {
  at_end end;
  test::store_of_three const where;
  auto checkpoint = where.options(false);
  if (s.in_memory) checkpoint.store = {"memory"};
  checkpoint.every_seconds = 1000;                                           // only when a rank leaves
  std::array<std::array<std::atomic<int>, bsp_test::rounds + 2>, 8> runs{};  // by rank in the job
  j.run([&](skel::context& ctx, int rank) {
    Circle c;
    bool const leaves = std::ranges::find(s.leavers, rank) != s.leavers.end();
    c.event = [&, rank, leaves](int, std::uint64_t n) {
      ++runs.at(static_cast<std::size_t>(rank)).at(n);
      if (leaves && n == 8) ctx.retire();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    skel::bsp_options options;
    if (s.saves) options.checkpoint = checkpoint;
    auto const [parts, report] = skel::gather(ctx, c, options);
    if (!ctx.is_root()) return;
    end.report = report;
    if (!parts) return;
    if constexpr (std::is_same_v<Circle, bsp_test::neighbour_circle>)
      for (auto const& p : *parts) end.cells.insert(end.cells.end(), p.whole.begin(), p.whole.end());
    else
      end.cells = parts->front().whole;
  });
  for (auto const& of_rank : runs) {
    int more = 0;
    for (auto const& n : of_rank) more += std::max(0, n - 1);
    end.repeated = std::max(end.repeated, more);
  }
  return end;
}

template <class Circle>
void check_leavers() {
  for (bool const in_memory : {false, true})
    for (auto const& leavers : std::vector<std::vector<int>>{{2}, {3}, {1, 2}, {0}}) {
      CAPTURE(in_memory, leavers);
      job j(4);
      j.patience = 10;
      auto const end = run<Circle>({.leavers = leavers, .in_memory = in_memory}, j);
      CHECK(end.cells == bsp_test::expected());
      CHECK(j.retired == static_cast<int>(leavers.size()));
      CHECK(end.repeated <= static_cast<int>(leavers.size()));
      CHECK(end.report.losses.size() == leavers.size());
      for (auto const& loss : end.report.losses) CHECK(loss.noticed == skel::loss_notice::retired);
    }
}

}  // namespace

TEST_CASE("ranks retire from supersteps, which hardly run again") {
  check_leavers<bsp_test::splitting_circle>();
}

TEST_CASE("ranks retire from supersteps with neighbours, which hardly run again") {
  check_leavers<bsp_test::neighbour_circle>();
}

TEST_CASE(
    "without a checkpoint, or if others cannot take over its state, a rank retires after the supersteps") {
  job j(4), k(4);
  j.patience = k.patience = 10;
  j.patience = 10;
  auto const unsaved = run<bsp_test::splitting_circle>({.leavers = {2}, .saves = false}, j);
  CHECK(unsaved.cells == bsp_test::expected());
  CHECK(unsaved.repeated == 0);  // it has stayed until its part was gathered
  auto const whole = run<bsp_test::circle>({.leavers = {2}}, k);
  CHECK(whole.cells == bsp_test::expected());
  CHECK(whole.repeated == 0);
}

}  // namespace bsp_retirement_test
