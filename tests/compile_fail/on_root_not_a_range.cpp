// on_root requires a function that returns all tasks, not one.
#include <skel/skel.hpp>
#include <vector>

void run(skel::context& ctx) {
#ifdef SKEL_COMPILE_FAIL
  auto source = skel::on_root([] { return 1; });
#else
  auto source = skel::on_root([] { return std::vector<int>{1}; });
#endif
  skel::farm(
      ctx, source, [](int) { return 1; }, skel::schedule::guided{}, [](skel::task_id, int&&) {});
}
