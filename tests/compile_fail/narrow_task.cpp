// A task function that takes a narrower type: the task would lose its fraction.
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
