// A loop whose function takes a byte.
#include <cstdint>

#include "skel/bsp.hpp"

#ifdef SKEL_COMPILE_FAIL
using number = std::uint8_t;
#else
using number = int;
#endif

struct program {
  using state = int;
  using message = int;
  [[nodiscard]] state begin(int /*rank*/, int /*size*/) const { return {}; }
  bool step(state& /*s*/, skel::superstep<int>& now) const {
    now.parallel_for(1000, [](number) {});
    return false;
  }
};

void call(skel::context& ctx) { skel::bsp(ctx, program{}); }
