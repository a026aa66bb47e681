// A sum of doubles: it depends on the order, which ring_steal does not define.
#include <vector>

#include "skel/ring_steal.hpp"

#ifdef SKEL_COMPILE_FAIL
using number = double;
#else
using number = long;
#endif

struct search {
  using task = int;
  using result = number;
  void run(int n, skel::spawner<int>&, number& sum) const { sum += static_cast<number>(n); }
  number merge(number a, number b) const { return a + b; }
};

void f(skel::context& ctx) {
  auto const all = skel::ring_steal(ctx, skel::on_root([] { return std::vector<int>{1}; }), search{});
  static_cast<void>(all);
}
