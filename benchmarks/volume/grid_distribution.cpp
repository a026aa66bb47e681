// Measures the virtual seconds until a grid of this size has reached all ranks of a simulated
// platform, for reproduce.py.
#include <cstdio>
#include <cstdlib>

#include "grid_sending.hpp"
#include "skel/sim/run.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PLATFORM BYTES series|broadcast\n", argv[0]);
    return 2;
  }
  try {
    auto const platform = skel::sim::platform::find(argv[1]);
    auto const bytes = static_cast<std::size_t>(std::atoll(argv[2]));
    double seconds = 0;
    auto const end = skel::sim::run(platform, [&](skel::context& ctx) {
      double const own = grid_sending::send(ctx, bytes, argv[3], [] { return skel::sim::now(); });
      seconds = std::max(seconds, own);
    });
    if (end.exit_code == 0)
      std::printf("seconds=%.6f bytes=%llu\n", seconds, static_cast<unsigned long long>(end.bytes));
    return end.exit_code;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
}
