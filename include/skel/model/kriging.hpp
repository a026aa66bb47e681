// Interpolates the part of the samples that a sum of basis functions does not explain.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/model/sample.hpp"

namespace skel::model {

/// The residual of one configuration.
struct residual {
  point at;             ///< the values of the variables
  double value = 0;     ///< ln(measured / fitted)
  int repetitions = 1;  ///< the number of measurements, at least 1
};

/// Kriging of residuals over the logarithms of the variables (Gaussian process regression;
/// Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapter 2). Costs that
/// depend on caches, or on the ratio of two sizes, are not sums of n^i log^j(n), but they are smooth.
/// The covariance of two points is
///
///     sill (1 + √3 d) exp(-√3 d),   d² = Σ (Δ ln v / length)² + Σ (Δ ln(v/w) / length)²
///
/// over the variables and over the ratios of two variables. Far from all samples the value is 0:
/// only the basis functions count there.
class kriging {
 public:
  std::vector<std::string> variables;  ///< their names
  /// Correlation lengths of each ln(variable), then of each ratio: first/second, first/third, … 0:
  /// no influence.
  std::vector<double> lengths;
  double sill = 0;               ///< variance of the field
  double noise = 0;              ///< variance of a single measurement
  std::vector<residual> points;  ///< the samples
  double error = 0;              ///< root mean square error when each point is predicted from the others
  double without = 0;            ///< root mean square of the residuals themselves

  /// Chooses the lengths, sill and noise of greatest likelihood. Returns nothing with fewer than
  /// five points per variable, more than 300 points, a variable that is not positive, residuals
  /// below 0.1 %, or if predicting each point from the others does not reduce the error to 0.7 of
  /// the residuals.
  [[nodiscard]] static std::optional<kriging> fit(std::span<residual const> residuals);

  /// Must be called after the members above were set by hand. Throws usage_error if they are
  /// inconsistent.
  void prepare();

  /// ln(expected / fitted) at this point. Throws usage_error if a variable is missing.
  [[nodiscard]] double operator()(point const& at) const;
  /// Standard deviation of that value.
  [[nodiscard]] double deviation(point const& at) const;

 private:
  [[nodiscard]] std::vector<double> covariances(point const& at) const;
  std::vector<std::vector<double>> places_;  // per point: ln(variable) / length, then ln(ratio) / length
  std::vector<double> weights_;              // inverse covariance matrix times the values
  std::vector<double> inverse_;              // inverse covariance matrix
};

}  // namespace skel::model
