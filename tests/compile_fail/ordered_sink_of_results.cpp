// A sink of results alone would get the task numbers.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  int n = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      skel::ordered([&](int x) { n += x; }));
#else
      skel::ordered([&](skel::task_id, int x) { n += x; }));
#endif
}
