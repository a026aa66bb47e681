// A span: its elements would not be sent.
#include <skel/skel.hpp>
#include <span>
#include <vector>

#ifdef SKEL_COMPILE_FAIL
using value = std::span<int>;
#else
using value = std::vector<int>;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return value{}; }, skel::schedule::guided{},
      [](skel::task_id, value&&) {});
}
