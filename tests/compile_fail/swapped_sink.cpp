// Swapped parameters: an integer result converts to a task number, and back.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      [](int, skel::task_id) {});
#else
      [](skel::task_id, int) {});
#endif
}
