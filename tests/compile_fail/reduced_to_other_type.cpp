// A wider total: the ranks' partial sums still have the result's type.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  int n = 0;
  long wide = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      skel::reduced(wide, [](long a, long b) { return a + b; }));
#else
      skel::reduced(n, [](int a, int b) { return a + b; }));
#endif
}
