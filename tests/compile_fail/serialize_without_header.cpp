// A result that needs Boost.Serialization, without the header for it.
#include <skel/skel.hpp>
#include <string>

struct reading {
#ifdef SKEL_COMPILE_FAIL
  std::string name;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name;
  }
#else
  char name[8] = {};
#endif
};

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return reading{}; }, skel::schedule::guided{},
      [](skel::task_id, reading&&) {});
}
