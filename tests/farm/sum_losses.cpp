// A farm that merges a reproducible sum, extremes, a histogram and a map while a rank dies:
// sum_losses SCHEDULE RESULTS VICTIM. VICTIM -1: none. The root prints a hash of the bytes of all totals,
// which all ranks have, the lost ranks, whether tasks were handed out again, and the attempt. RESULTS = loop:
// farms of which each needs the total of the one before, which is printed instead of a hash.
// sum_losses_test.cpp starts it.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "mpi/deaths.hpp"
#include "skel/exact_merges.hpp"
#include "skel/hash.hpp"
#include "skel/reproducible_sum.hpp"
#include "skel/skel.hpp"

namespace {

constexpr std::uint64_t tasks = 240, terms_of_a_task = 7;

// Terms of all sizes, so that another order of plain additions has other bits.
double term(std::uint64_t i) {
  return std::ldexp(std::sin(static_cast<double>(i)), static_cast<int>(i * 37 % 120) - 60);
}

struct totals {
  skel::reproducible_sum<double> sum{};
  skel::minimum<double> least{};
  skel::maximum<double> most{};
  skel::histogram bins{-1, 1, 20};
  skel::merged_map<std::string, std::uint64_t> tasks_by_digit{};
  friend totals operator+(totals a, totals const& b) {
    a.sum += b.sum;
    a.least += b.least;
    a.most += b.most;
    a.bins += b.bins;
    a.tasks_by_digit += b.tasks_by_digit;
    return a;
  }
};

// Equal calls, which differ only in what the tasks capture. The victim dies in the fourth.
void repeat(skel::context& ctx, char const* how, int victim) {
  std::uint64_t total = 1;
  for (int round = 0; round < 6; ++round) {
    std::atomic<int> done_here = 0;
    auto const task = [&, before = total](std::uint64_t id) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (ctx.attempt() == 1 && round == 3 && ctx.rank() == victim && ++done_here == 1) test::die();
      return before * 31 + id;
    };
    std::uint64_t sum = 0;
    skel::farm(ctx, skel::indices(60), task, skel::any_schedule(how),
               skel::everywhere(skel::reduced(sum, std::plus<std::uint64_t>())));
    total = sum;
  }
  if (ctx.is_root())
    std::printf("%016llx attempt %d\n", static_cast<unsigned long long>(total), ctx.attempt());
}

double plain_sum(bool backward) {
  double sum = 0;
  constexpr auto n = tasks * terms_of_a_task;
  for (std::uint64_t i = 0; i < n; ++i) sum += term(backward ? n - 1 - i : i);
  return sum;
}

}  // namespace

template <>
inline constexpr bool skel::exact_merge<totals> = true;

int main(int argc, char** argv) {
  if (argc != 4 || plain_sum(false) == plain_sum(true)) return 2;
  int const victim = std::atoi(argv[3]);
  auto const body = [&](skel::context& ctx) {
    if (std::string(argv[2]) == "loop") return repeat(ctx, argv[1], victim);
    skel::farm_options options;
    options.results = skel::parse_results(argv[2]);
    std::atomic<int> done_here = 0;
    auto const task = [&](std::uint64_t id) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      // Late enough that the root has merged results of this rank, if they are streamed.
      if (ctx.attempt() == 1 && ctx.rank() == victim && ++done_here == 10) test::die();
      totals part;
      for (auto i = id * terms_of_a_task; i < (id + 1) * terms_of_a_task; ++i) {
        part.sum += term(i);
        part.least += skel::minimum<double>(term(i), id);
        part.most += skel::maximum<double>(term(i), id);
        part.bins.add(term(i));
      }
      part.tasks_by_digit[std::to_string(id % 10)] += id;
      return part;
    };
    totals total;
    auto const report = skel::farm(ctx, skel::indices(tasks), task, skel::any_schedule(argv[1]),
                                   skel::everywhere(skel::reduced(total)), options)
                            .report;
    std::vector<std::byte> bytes;
    skel::pack(total, bytes);
    ctx.require_same("the totals", bytes);
    auto const ranks = skel::gather(ctx, ctx.rank());
    if (!ctx.is_root()) return;
    for (int r = 0; r < ctx.size(); ++r)
      if (ranks->at(static_cast<std::size_t>(r)).value_or(r) != r) std::abort();
    std::printf("%s", skel::xxh3_hex(bytes).c_str());
    for (int const rank : report.lost_ranks) std::printf(" lost %d", rank);
    std::printf(" again %d attempt %d\n", report.tasks_handed_out_again > 0 ? 1 : 0, report.attempt);
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
