// A run that adds to a copy of the result: the sum would be lost.
#include <vector>

#include "skel/ring_steal.hpp"

#ifdef SKEL_COMPILE_FAIL
using sum_type = int;
#else
using sum_type = int&;
#endif

struct search {
  using task = int;
  using result = int;
  void run(int n, skel::spawner<int>&, sum_type sum) const { sum += n; }
  int merge(int a, int b) const { return a + b; }
};

void f(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<int>{1}; }), search{});
}
