// Virtual seconds in which a grid of so many bytes reaches the ranks of a simulated platform, by a series of
// messages to one rank each, as ISIS 3.0.7 did it (StormView, section 6.3), or by skel::broadcast. For
// reproduce.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/sim/run.hpp"

namespace {

using grid = std::vector<std::uint8_t>;

grid some_grid(std::size_t bytes) {
  grid g(bytes);
  for (std::size_t i = 0; i < bytes; ++i) g[i] = static_cast<std::uint8_t>(i * 131 >> 3);
  return g;
}

/// A task for each worker, which is the grid; a worker asks for one when it has nothing.
double in_series(skel::context& ctx, std::size_t bytes) {
  auto const copies = static_cast<std::uint64_t>(ctx.size() - 1);
  auto const expected = some_grid(bytes);
  auto const grids = [&] {
    return std::views::iota(std::uint64_t{0}, copies) |
           std::views::transform([&](std::uint64_t) { return grid(expected); });
  };
  std::uint64_t right = 0;
  skel::farm_options options;
  options.root = skel::root_role::serves;
  auto const run = skel::farm(
      ctx, skel::on_root(grids), [&](grid const& g) { return g == expected; },
      skel::first_come{.chunk = 1, .threshold = {}, .early = false},
      [&](skel::task_id, bool same) { right += same ? 1 : 0; }, options);
  if (ctx.is_root() && right != copies) throw skel::error("a grid did not arrive");
  return run.seconds;
}

double by_broadcast(skel::context& ctx, std::size_t bytes) {
  auto const got = skel::broadcast(ctx, skel::on_root([&] { return some_grid(bytes); }));
  if (!got || *got != some_grid(bytes)) throw skel::error("a grid did not arrive");
  return skel::sim::now();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PLATFORM BYTES series|broadcast\n", argv[0]);
    return 2;
  }
  try {
    auto const platform = skel::sim::platform::find(argv[1]);
    auto const bytes = static_cast<std::size_t>(std::atoll(argv[2]));
    std::string const how = argv[3];
    double seconds = 0;
    auto const end = skel::sim::run(platform, [&](skel::context& ctx) {
      double const own = how == "series" ? in_series(ctx, bytes) : by_broadcast(ctx, bytes);
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
