// A task function that takes a byte: task 256 would arrive as task 0.
#include <cstdint>
#include <skel/skel.hpp>

#ifdef SKEL_COMPILE_FAIL
using number = std::uint8_t;
#else
using number = int;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(1000), [](number i) { return static_cast<int>(i); }, skel::schedule::guided{},
      [](skel::task_id, int) {});
}
