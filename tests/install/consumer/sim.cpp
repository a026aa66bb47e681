// A user's simulated run: two ranks with one task of a second each.
#include <cmath>
#include <skel/farm.hpp>
#include <skel/sim/run.hpp>

int main() {
  double seconds = 0;
  auto const end = skel::sim::run(skel::sim::platform::ready("uneven:ranks=2"), [&](skel::context& ctx) {
    auto const r = skel::farm(
                       ctx, skel::indices(2),
                       [](std::uint64_t i) {
                         skel::sim::spend(1);
                         return i;
                       },
                       skel::schedule::blocks{}, [](skel::task_id, std::uint64_t) {})
                       .report;
    if (ctx.is_root()) seconds = r.seconds;
  });
  return end.exit_code == 0 && seconds > 0.25 ? 0 : 1;
}
