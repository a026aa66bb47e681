// An iterator as a message: it holds an address.
#include <vector>

#include "skel/bsp.hpp"

struct program {
  using state = int;
#ifdef SKEL_COMPILE_FAIL
  using message = std::vector<int>::iterator;
#else
  using message = int;
#endif
  [[nodiscard]] state begin(int /*rank*/, int /*size*/) const { return {}; }
  bool step(state& /*s*/, skel::superstep<message>& /*now*/) const { return false; }
};

void call(skel::context& ctx) { skel::bsp(ctx, program{}); }
