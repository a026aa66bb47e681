// A vector of a narrower type than the results.
#include <skel/skel.hpp>
#include <vector>

void run(skel::context& ctx) {
  std::vector<double> right;
  std::vector<int> wrong;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 0.5; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      skel::into(wrong));
#else
      skel::into(right));
#endif
}
