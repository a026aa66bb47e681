// A task function must take const tasks, since compute threads share the list.
#include <skel/skel.hpp>
#include <string>
#include <vector>

#ifdef SKEL_COMPILE_FAIL
using argument = std::string&;
#else
using argument = std::string const&;
#endif

void run(skel::context& ctx, std::vector<std::string> const& names) {
  skel::farm(
      ctx, skel::replicated(names), [](argument name) { return name.size(); }, skel::schedule::guided{},
      [](skel::task_id, std::size_t&&) {});
}
