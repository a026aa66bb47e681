// A farm that merges reproducible sums while a rank dies: sum_losses SCHEDULE RESULTS VICTIM. VICTIM -1:
// none. The root prints the bits of the sum, the lost ranks, whether tasks were handed out again, and the
// attempt.
// sum_losses_test.cpp starts it.
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "mpi/deaths.hpp"
#include "skel/reproducible_sum.hpp"
#include "skel/skel.hpp"

namespace {

constexpr std::uint64_t tasks = 240, terms_of_a_task = 7;

// Of all sizes, so that another order of plain additions has other bits.
double term(std::uint64_t i) {
  return std::ldexp(std::sin(static_cast<double>(i)), static_cast<int>(i * 37 % 120) - 60);
}

double plain_sum(bool backward) {
  double sum = 0;
  constexpr auto n = tasks * terms_of_a_task;
  for (std::uint64_t i = 0; i < n; ++i) sum += term(backward ? n - 1 - i : i);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || plain_sum(false) == plain_sum(true)) return 2;
  int const victim = std::atoi(argv[3]);
  auto const body = [&](skel::context& ctx) {
    skel::farm_options options;
    options.results = skel::parse_results(argv[2]);
    std::atomic<int> done_here = 0;
    auto const task = [&](std::uint64_t id) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      // Late enough that the root has merged results of this rank, if they are streamed.
      if (ctx.attempt() == 1 && ctx.rank() == victim && ++done_here == 10) test::die();
      skel::reproducible_sum<double> part;
      for (auto i = id * terms_of_a_task; i < (id + 1) * terms_of_a_task; ++i) part += term(i);
      return part;
    };
    skel::reproducible_sum<double> total;
    auto const report = skel::farm(ctx, skel::indices(tasks), task, skel::any_schedule(argv[1]),
                                   skel::reduced(total, std::plus<>()), options)
                            .report;
    if (!ctx.is_root()) return;
    std::printf("%016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(total.value())));
    for (int const rank : report.lost_ranks) std::printf(" lost %d", rank);
    std::printf(" again %d attempt %d\n", report.tasks_handed_out_again > 0 ? 1 : 0, report.attempt);
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
