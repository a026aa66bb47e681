// Swapped parameters of an ordered sink.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1U; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      skel::ordered([](unsigned, skel::task_id) {}));
#else
      skel::ordered([](skel::task_id, unsigned) {}));
#endif
}
