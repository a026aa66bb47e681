// A result whose fields are partly in a base class.
#include <skel/skel.hpp>
#include <string>

struct named {
  std::string name;
};
#ifdef SKEL_COMPILE_FAIL
struct person : named {
#else
struct person {
  named base;
#endif
  int age = 0;
};

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return person{}; }, [](skel::task_id, person&&) {});
}
