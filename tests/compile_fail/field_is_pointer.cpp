// A struct of which one field cannot be sent.
#include <skel/skel.hpp>
#include <string>

struct item {
  std::string name;
#ifdef SKEL_COMPILE_FAIL
  double* values = nullptr;
#else
  double value = 0;
#endif
};

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return item{}; }, [](skel::task_id, item&&) {});
}
