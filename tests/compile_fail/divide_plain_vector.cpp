// A vector as the problem of a divide_and_conquer.
#include <array>
#include <vector>

#include "skel/divide_and_conquer.hpp"

struct sum {
  using problem = std::vector<int>;
  using solution = int;
  bool trivial(problem const&) const { return true; }
  solution conquer(problem const&) const { return 0; }
  std::array<problem, 2> divide(problem const& p) const { return {p, p}; }
  solution combine(solution a, solution b) const { return a + b; }
};

void f(skel::context& ctx) {
  std::vector<int> const list{1, 2, 3};
#ifdef SKEL_COMPILE_FAIL
  static_cast<void>(skel::divide_and_conquer(ctx, list, sum{}, skel::division::tree{}));
#else
  static_cast<void>(
      skel::divide_and_conquer(ctx, skel::replicated_problem{list}, sum{}, skel::division::tree{}));
#endif
}
