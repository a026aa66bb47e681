// A floating-point sum: it depends on the order, which depends on the schedule.
#include <skel/skel.hpp>

#ifdef SKEL_COMPILE_FAIL
using number = double;
#else
using number = long;
#endif

number run(skel::context& ctx) {
  number total = 0;
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return number{1}; }, skel::schedule::guided{},
      skel::reduced(total, [](number a, number b) { return a + b; }));
  return total;
}
