// A vector as the source of a farm, where skel cannot know which ranks have it.
#include <skel/skel.hpp>
#include <vector>

void run(skel::context& ctx) {
  std::vector<int> const list{1, 2, 3};
#ifdef SKEL_COMPILE_FAIL
  auto const& source = list;
#else
  auto const source = skel::replicated(list);
#endif
  skel::farm(
      ctx, source, [](int i) { return i; }, [](skel::task_id, int) {});
}
