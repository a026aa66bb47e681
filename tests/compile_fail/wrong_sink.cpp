// A sink must take the task number first.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return std::string("x"); }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      [](std::string&&, skel::task_id) {});
#else
      [](skel::task_id, std::string&&) {});
#endif
}
