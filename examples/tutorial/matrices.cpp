// A farm of Eigen matrices: each task gets a matrix and returns its inverse.
//     mpiexec -n 4 matrices
#include <Eigen/LU>
#include <cstdio>
#include <skel/eigen.hpp>
#include <skel/skel.hpp>
#include <vector>

using Eigen::MatrixXd;

MatrixXd inverse(MatrixXd const& m) { return m.inverse(); }  // not auto: an expression cannot be sent

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const open = [] {  // on the root; the tasks travel
      std::vector<MatrixXd> all;
      for (int n = 2; n <= 21; ++n) {
        MatrixXd m = MatrixXd::Constant(n, n, 1);
        m.diagonal().array() += n;
        all.push_back(m);
      }
      return all;
    };
    std::vector<MatrixXd> inverses;
    skel::farm(ctx, skel::on_root(open), inverse, skel::schedule::guided{}, skel::into(inverses));
    if (!ctx.is_root()) return;
    for (auto const& m : inverses)
      std::printf("%2d rows: trace %.12f\n", static_cast<int>(m.rows()), m.trace());
  });
}
