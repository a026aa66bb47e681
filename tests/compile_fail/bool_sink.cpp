// A sink that returns bool: true could mean either continue or stop.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      [](skel::task_id, int x) { return x == 3; });
#else
      [](skel::task_id, int x) { return x == 3 ? skel::results::flow::stop : skel::results::flow::go_on; });
#endif
}
