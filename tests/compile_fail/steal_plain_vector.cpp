// A vector as the source of a ring_steal.
#include <vector>

#include "skel/ring_steal.hpp"

struct count {
  using task = int;
  using result = int;
  void run(task n, skel::spawner<task>&, int& sum) const { sum += n; }
  int merge(int a, int b) const { return a + b; }
};

void f(skel::context& ctx) {
  std::vector<int> const list{1, 2, 3};
#ifdef SKEL_COMPILE_FAIL
  skel::ring_steal(ctx, list, count{});
#else
  skel::ring_steal(ctx, skel::replicated(list), count{});
#endif
}
