// A result that holds a pointer to something else and no serialize function.
#include <memory>
#include <skel/skel.hpp>

struct picture {
#ifdef SKEL_COMPILE_FAIL
  std::shared_ptr<int> pixels;
#else
  int pixels = 0;
#endif
};

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return picture{}; }, skel::schedule::guided{},
      [](skel::task_id, picture&&) {});
}
