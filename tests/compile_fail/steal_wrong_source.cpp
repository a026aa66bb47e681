// A source of something else than the job's tasks.
#include <string>
#include <vector>

#include "skel/ring_steal.hpp"

#ifdef SKEL_COMPILE_FAIL
using element = std::string;
#else
using element = int;
#endif

struct search {
  using task = int;
  using result = int;
  void run(int n, skel::spawner<int>&, int& sum) const { sum += n; }
  int merge(int a, int b) const { return a + b; }
};

void f(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<element>(1); }), search{});
}
