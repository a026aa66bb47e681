// Estimates pi from random points. The mean is a reproducible sum, so it has the same bits on any
// number of ranks.
//     mpiexec -n 4 monte_carlo
#include <cstdio>
#include <functional>
#include <random>
#include <skel/reproducible_sum.hpp>
#include <skel/skel.hpp>

using sum = skel::reproducible_sum<double>;

// Each task has a generator of its own, so its points do not depend on the rank that runs it.
sum heights(std::uint64_t task) {
  std::mt19937_64 dice(task);
  sum total;
  for (int i = 0; i < 10'000; ++i) {
    double const x = static_cast<double>(dice() >> 11) * 0x1p-53;
    total += 4 / (1 + x * x);  // its mean over 0 ... 1 is pi
  }
  return total;
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    sum total;
    skel::farm(ctx, skel::indices(100), heights, skel::schedule::guided{},
               skel::reduced(total, std::plus<>()));
    if (ctx.is_root()) std::printf("pi is about %.17g\n", total.value() / 1e6);
  });
}
