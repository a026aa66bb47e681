// A result with views deep inside.
#include <optional>
#include <skel/skel.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef SKEL_COMPILE_FAIL
using value = std::vector<std::pair<int, std::optional<std::string_view>>>;
#else
using value = std::vector<std::pair<int, std::string>>;
#endif

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return value{}; }, skel::schedule::guided{},
      [](skel::task_id, value&&) {});
}
