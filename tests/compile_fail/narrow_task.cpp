// The fraction of a task is lost.
#include <skel/skel.hpp>
#include <vector>

#ifdef SKEL_COMPILE_FAIL
using argument = int;
#else
using argument = double;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::replicated(std::vector{0.5, 1.5}), [](argument x) { return x > 1; },
      skel::schedule::guided{}, [](skel::task_id, bool) {});
}
