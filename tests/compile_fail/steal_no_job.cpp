// A job without merge.
#include <vector>

#include "skel/ring_steal.hpp"

struct search {
  using task = int;
  using result = int;
  void run(int n, skel::spawner<int>&, int& sum) const { sum += n; }
#ifndef SKEL_COMPILE_FAIL
  int merge(int a, int b) const { return a + b; }
#endif
};

void f(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<int>{1}; }), search{});
}
