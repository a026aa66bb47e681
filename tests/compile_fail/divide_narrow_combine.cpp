// A combine of narrower numbers than the solutions are.
#include <array>
#include <utility>

#include "skel/divide_and_conquer.hpp"

#ifdef SKEL_COMPILE_FAIL
using number = int;
#else
using number = double;
#endif

struct sum {
  using problem = std::pair<int, int>;
  using solution = double;
  bool trivial(problem const& p) const { return p.second - p.first <= 1; }
  solution conquer(problem const& p) const { return p.first / 2.0; }
  std::array<problem, 2> divide(problem const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(number a, number b) const { return a + b; }
};

void f(skel::context& ctx) {
  static_cast<void>(skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 9}}, sum{},
                                             skel::division::hypercube{}));
}
