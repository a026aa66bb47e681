// A string_view: its characters would not be sent.
#include <skel/skel.hpp>
#include <string>
#include <string_view>

#ifdef SKEL_COMPILE_FAIL
using value = std::string_view;
#else
using value = std::string;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return value{}; }, skel::schedule::guided{},
      [](skel::task_id, value&&) {});
}
