// Tasks of an on_root source must be sendable.
#include <memory>
#include <skel/skel.hpp>
#include <vector>

#ifdef SKEL_COMPILE_FAIL
using task = std::shared_ptr<int>;
#else
using task = int;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::on_root([] { return std::vector<task>(3); }), [](task const&) { return 1; },
      skel::schedule::guided{}, [](skel::task_id, int&&) {});
}
