// Measures the seconds until a grid of this size has reached all ranks of this job, by the root's
// clock; one line per sample. For reproduce.py: mpiexec -n 28 skel-bench-grid-ranks 422532
// broadcast 30
#include <cstdio>
#include <cstdlib>

#include "clock.hpp"
#include "grid_sending.hpp"
#include "skel/run_main.hpp"

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc != 4 || ctx.size() < 2)
      throw skel::usage_error("usage: mpiexec -n RANKS skel-bench-grid-ranks BYTES series|broadcast SAMPLES");
    ctx.set_threads(1);
    auto const bytes = static_cast<std::size_t>(std::atoll(argv[1]));
    grid_sending::send(ctx, bytes, argv[2], bench::seconds);  // warms up the connections
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
      double const seconds = grid_sending::send(ctx, bytes, argv[2], bench::seconds);
      if (ctx.is_root()) std::printf("seconds=%.6f\n", seconds);
    }
  });
}
