// A merge of narrower numbers than the results are.
#include <vector>

#include "skel/ring_steal.hpp"

#ifdef SKEL_COMPILE_FAIL
using number = int;
#else
using number = long;
#endif

struct search {
  using task = int;
  using result = long;
  void run(int n, skel::spawner<int>&, long& sum) const { sum += n; }
  long merge(number a, number b) const { return a + b; }
};

void f(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<int>{1}; }), search{});
}
