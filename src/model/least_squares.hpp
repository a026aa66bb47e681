// Linear algebra of the fits. Eigen is used only behind this private header.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <utility>

namespace skel::model {

/// The least-squares solution by QR with column pivoting.
[[nodiscard]] Eigen::VectorXd solve_qr(Eigen::MatrixXd const& a, Eigen::VectorXd const& b);

/// The least-squares solution without negative coefficients: the active set method of Lawson and Hanson,
/// "Solving Least Squares Problems" (1974), chapter 23.
[[nodiscard]] Eigen::VectorXd solve_nonnegative(Eigen::MatrixXd const& a, Eigen::VectorXd const& b);

struct line {
  double at_zero = 0, slope = 0;
  double squares = 0;  ///< the sum of the squared relative errors
};
/// The line through points (x, y) with the least relative errors; neither coefficient is below 0.
[[nodiscard]] line fit_line(std::span<std::pair<double, double> const> points);

/// Ratio of the largest to the smallest singular value of the columns, scaled to length one;
/// infinite if they are dependent.
struct column_check {
  double condition = 1;
  Eigen::VectorXd weakest;  ///< the combination of the scaled columns nearest to 0
};
[[nodiscard]] column_check check_columns(Eigen::MatrixXd a);

/// The inverse of aᵀa.
[[nodiscard]] Eigen::MatrixXd inverse_normal(Eigen::MatrixXd const& a);

}  // namespace skel::model
