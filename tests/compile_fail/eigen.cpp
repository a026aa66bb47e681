#include <cstdint>
#include <memory>
#include <skel/eigen.hpp>
#include <vector>

#include "mistake.hpp"

namespace eigen {

// error: skel/eigen.hpp: the scalar type of this matrix cannot be sent
struct interval {
  double low = 0;
  MISTAKE(double, std::shared_ptr<double>) high{};
};
std::size_t scalar_not_sendable(Eigen::Matrix<interval, 2, 2> const& m) {
  std::vector<std::byte> out;
  skel::pack(m, out);
  return out.size();
}

// The expression refers to matrices that are gone.
// error: skel/eigen.hpp: this type of Eigen is an expression
void expression(skel::context& ctx) {
  auto const f = [](std::uint64_t i) {
    Eigen::Vector2d const v(static_cast<double>(i), 1);
    return MISTAKE(Eigen::Vector2d(v + v), v + v);
  };
  skel::farm(ctx, skel::indices(10), f, skel::schedule::guided{},
             [](skel::task_id, Eigen::Vector2d const&) {});
}

}  // namespace eigen
