// A number of tasks is a whole number.
#include <skel/skel.hpp>

#ifdef SKEL_COMPILE_FAIL
inline constexpr auto tasks = 2.5;
#else
inline constexpr auto tasks = 2;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(tasks), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
      [](skel::task_id, int) {});
}
