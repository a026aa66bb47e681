// A task function that returns an expression, which refers to matrices that are gone.
#include <skel/eigen.hpp>
#include <skel/skel.hpp>

void run(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10),
      [](std::uint64_t i) {
        Eigen::Vector2d const v(static_cast<double>(i), 1);
#ifdef SKEL_COMPILE_FAIL
        return v + v;
#else
        return Eigen::Vector2d(v + v);
#endif
      },
      skel::schedule::guided{}, [](skel::task_id, Eigen::Vector2d const&) {});
}
