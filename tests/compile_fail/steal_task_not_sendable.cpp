// A task with a member that cannot be sent.
#include <memory>
#include <vector>

#include "skel/ring_steal.hpp"

#ifdef SKEL_COMPILE_FAIL
using node = std::shared_ptr<int>;
#else
using node = int;
#endif

struct search {
  using task = node;
  using result = int;
  void run(node const&, skel::spawner<node>&, int& sum) const { ++sum; }
  int merge(int a, int b) const { return a + b; }
};

void f(skel::context& ctx) {
  skel::ring_steal(ctx, skel::on_root([] { return std::vector<node>(1); }), search{});
}
