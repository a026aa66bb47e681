// An ordered sink without the task number: it would receive task numbers as results.
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
