#include <memory>

#include "skel/bsp.hpp"

struct program {
#ifdef SKEL_COMPILE_FAIL
  using state = std::unique_ptr<int>;
#else
  using state = int;
#endif
  using message = int;
  [[nodiscard]] state begin(int /*rank*/, int /*size*/) const { return {}; }
  bool step(state& /*s*/, skel::superstep<int>& /*now*/) const { return false; }
};

void call(skel::context& ctx) { skel::bsp(ctx, program{}); }
