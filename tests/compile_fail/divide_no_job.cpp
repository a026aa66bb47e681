// A job without combine.
#include <array>
#include <utility>

#include "skel/divide_and_conquer.hpp"

struct sum {
  using problem = std::pair<int, int>;
  using solution = int;
  bool trivial(problem const& p) const { return p.second - p.first <= 1; }
  solution conquer(problem const& p) const { return p.first; }
  std::array<problem, 2> divide(problem const& p) const {
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
#ifndef SKEL_COMPILE_FAIL
  solution combine(solution a, solution b) const { return a + b; }
#endif
};

void f(skel::context& ctx) {
  static_cast<void>(skel::divide_and_conquer(ctx, skel::replicated_problem{std::pair{0, 9}}, sum{},
                                             skel::division::hypercube{}));
}
