// A sink that takes int: a double result would lose its fraction.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  double n = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 0.5; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      [&](skel::task_id, int x) { n += x; });
#else
      [&](skel::task_id, double x) { n += x; });
#endif
}
