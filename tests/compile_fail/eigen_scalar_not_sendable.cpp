// A matrix of a scalar that cannot be sent.
#include <skel/eigen.hpp>
#include <skel/skel.hpp>

struct interval {
  double low = 0;
#ifdef SKEL_COMPILE_FAIL
  std::shared_ptr<double> high;
#else
  double high = 0;
#endif
};

std::size_t size(Eigen::Matrix<interval, 2, 2> const& m) {
  std::vector<std::byte> out;
  skel::pack(m, out);
  return out.size();
}
