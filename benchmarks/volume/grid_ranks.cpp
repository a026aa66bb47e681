// Measures the seconds until a grid of this size has reached all ranks of this job, by the root's
// clock; one line per sample. For reproduce.py: mpiexec -n 28 skel-bench-grid-ranks 422532
// broadcast 30
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "grid_sending.hpp"
#include "skel/run_main.hpp"

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc != 4 || ctx.size() < 2)
      throw skel::usage_error("usage: mpiexec -n RANKS skel-bench-grid-ranks BYTES series|broadcast SAMPLES");
    ctx.set_threads(1);
    auto const now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    auto const bytes = static_cast<std::size_t>(std::atoll(argv[1]));
    grid_sending::send(ctx, bytes, argv[2], now);  // warms up the connections
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
      double const seconds = grid_sending::send(ctx, bytes, argv[2], now);
      if (ctx.is_root()) std::printf("seconds=%.6f\n", seconds);
    }
  });
}
