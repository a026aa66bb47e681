#include "least_squares.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace skel::model {

namespace {

// Divides each column by its length, because sizes reach from 1 to 1e12.
Eigen::VectorXd scale_columns(Eigen::MatrixXd& a) {
  Eigen::VectorXd length(a.cols());
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    length[j] = a.col(j).norm();
    if (length[j] == 0) length[j] = 1;
    a.col(j) /= length[j];
  }
  return length;
}

// Solves with some of the columns; the other coefficients are 0.
Eigen::VectorXd solve_on(Eigen::MatrixXd const& a, Eigen::VectorXd const& b,
                         std::vector<Eigen::Index> const& some) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  if (some.empty()) return x;
  Eigen::MatrixXd const part = a(Eigen::all, some);
  Eigen::VectorXd const solved = part.colPivHouseholderQr().solve(b);
  for (std::size_t i = 0; i < some.size(); ++i) x[some[i]] = solved[static_cast<Eigen::Index>(i)];
  return x;
}

}  // namespace

Eigen::VectorXd solve_qr(Eigen::MatrixXd const& a, Eigen::VectorXd const& b) {
  Eigen::MatrixXd scaled = a;
  auto const length = scale_columns(scaled);
  return scaled.colPivHouseholderQr().solve(b).cwiseQuotient(length);
}

Eigen::VectorXd solve_nonnegative(Eigen::MatrixXd const& a_in, Eigen::VectorXd const& b_in) {
  double const norm = b_in.norm();
  if (norm == 0) return Eigen::VectorXd::Zero(a_in.cols());
  Eigen::MatrixXd a = a_in;
  auto const length = scale_columns(a);
  Eigen::VectorXd const b = b_in / norm;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  std::vector<Eigen::Index> passive;
  constexpr double tolerance = 1e-12;
  for (Eigen::Index round = 0; round < 3 * a.cols(); ++round) {
    // Among the columns at 0, chooses the one along which the residual falls fastest.
    Eigen::VectorXd const gradient = a.transpose() * (b - a * x);
    Eigen::Index best = -1;
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      bool const held = std::find(passive.begin(), passive.end(), j) == passive.end();
      if (held && gradient[j] > tolerance && (best < 0 || gradient[j] > gradient[best])) best = j;
    }
    if (best < 0) break;
    passive.push_back(best);
    Eigen::VectorXd next = solve_on(a, b, passive);
    // Moves back towards x until nothing is negative; columns that reach 0 leave the set.
    while (!passive.empty()) {
      double step = 1;
      for (auto const j : passive)
        if (next[j] <= 0) step = std::min(step, x[j] > 0 ? x[j] / (x[j] - next[j]) : 0.0);
      bool const inside = std::none_of(passive.begin(), passive.end(), [&](auto j) { return next[j] <= 0; });
      if (inside) break;
      x += step * (next - x);
      std::erase_if(passive, [&](auto j) {
        bool const leaves = x[j] <= 1e-15 || (step == 0 && next[j] <= 0);
        if (leaves) x[j] = 0;
        return leaves;
      });
      next = solve_on(a, b, passive);
    }
    x = next;
  }
  return norm * x.cwiseQuotient(length);
}

line fit_line(std::span<std::pair<double, double> const> points) {
  auto const n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixXd a(n, 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    auto const& [x, y] = points[static_cast<std::size_t>(i)];
    a(i, 0) = 1 / y;
    a(i, 1) = x / y;
  }
  Eigen::VectorXd const ones = Eigen::VectorXd::Ones(n);
  Eigen::VectorXd const c = solve_nonnegative(a, ones);
  return {c[0], c[1], (ones - a * c).squaredNorm()};
}

column_check check_columns(Eigen::MatrixXd a) {
  scale_columns(a);
  Eigen::JacobiSVD<Eigen::MatrixXd> const svd(a, Eigen::ComputeThinV);
  auto const& values = svd.singularValues();
  double const smallest = values[values.size() - 1];
  column_check c;
  c.condition = smallest > 0 ? values[0] / smallest : std::numeric_limits<double>::infinity();
  c.weakest = svd.matrixV().col(a.cols() - 1);
  return c;
}

Eigen::MatrixXd inverse_normal(Eigen::MatrixXd const& a) {
  Eigen::MatrixXd scaled = a;
  Eigen::VectorXd const length = scale_columns(scaled);
  Eigen::MatrixXd const r =
      scaled.householderQr().matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>();
  Eigen::MatrixXd const inverse =
      r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(a.cols(), a.cols()));
  Eigen::MatrixXd result = inverse * inverse.transpose();
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index j = 0; j < result.cols(); ++j) result(i, j) /= length[i] * length[j];
  return result;
}

}  // namespace skel::model
