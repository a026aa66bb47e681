// A merge of narrower numbers.
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  long n = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return 1L; }, skel::schedule::guided{},
#ifdef SKEL_COMPILE_FAIL
      skel::reduced(n, [](int a, int b) { return a + b; }));
#else
      skel::reduced(n, [](long a, long b) { return a + b; }));
#endif
}
