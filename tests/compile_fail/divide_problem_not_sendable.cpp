// A problem on the root must be sendable.
#include <array>
#include <vector>

#include "skel/divide_and_conquer.hpp"

struct part {
#ifdef SKEL_COMPILE_FAIL
  std::vector<int>* numbers = nullptr;
  part() = default;
  part(part const& other) : numbers(other.numbers) {}
#else
  int number = 0;
#endif
};

struct sum {
  using problem = part;
  using solution = int;
  bool trivial(problem const&) const { return true; }
  solution conquer(problem const&) const { return 0; }
  std::array<problem, 2> divide(problem const& p) const { return {p, p}; }
  solution combine(solution a, solution b) const { return a + b; }
};

void f(skel::context& ctx) {
  static_cast<void>(
      skel::divide_and_conquer(ctx, skel::on_root([] { return part{}; }), sum{}, skel::division::tree{}));
}
