// A struct that could be copied as bytes, but for a pointer in a member of a member.
#include <array>
#include <skel/skel.hpp>
#include <vector>

struct part {
  double weight[3] = {};
#ifdef SKEL_COMPILE_FAIL
  char const* name = nullptr;
#else
  char name[8] = {};
#endif
};
struct task {
  int number = 0;
  std::array<part, 2> parts{};
};

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::on_root([] { return std::vector<task>(3); }), [](task const& t) { return t.number; },
      skel::schedule::guided{}, [](skel::task_id, int) {});
}
