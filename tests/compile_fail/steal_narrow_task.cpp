// Tasks that are too narrow for the numbers of the source.
#include "skel/ring_steal.hpp"

struct count {
#ifdef SKEL_COMPILE_FAIL
  using task = short;
#else
  using task = int;
#endif
  using result = int;
  void run(task n, skel::spawner<task>&, int& sum) const { sum += n; }
  int merge(int a, int b) const { return a + b; }
};

void f(skel::context& ctx) { skel::ring_steal(ctx, skel::indices(100'000), count{}); }
