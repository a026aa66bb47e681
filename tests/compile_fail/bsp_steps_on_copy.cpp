// A step that changes a copy of the state.
#include "skel/bsp.hpp"

#ifdef SKEL_COMPILE_FAIL
using argument = int;
#else
using argument = int&;
#endif

struct program {
  using state = int;
  using message = int;
  [[nodiscard]] state begin(int /*rank*/, int /*size*/) const { return 0; }
  bool step(argument s, skel::superstep<message>& /*now*/) const { return ++s < 3; }
};

void call(skel::context& ctx) { skel::bsp(ctx, program{}); }
