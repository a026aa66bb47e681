// What a sum of basis functions leaves unexplained, interpolated between the samples.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/model/sample.hpp"

namespace skel::model {

/// A value at a point that `repetitions` measurements lie behind.
struct residual {
  point at;
  double value = 0;  ///< ln(measured / fitted)
  int repetitions = 1;
};

/// Kriging (Gaussian process regression; Rasmussen and Williams, "Gaussian Processes for Machine Learning",
/// 2006, chapter 2) of residuals over the logarithms of the variables. Costs that change with the caches, or
/// with the ratio of two sizes, are no sum of n^i log^j(n); but they are smooth. The covariance of two points
/// is
///
///     sill (1 + √3 d) exp(-√3 d),   d² = Σ (Δ ln v / length)² + Σ (Δ ln(v/w) / length)²
///
/// over the variables and over the ratios of two variables, since what a ratio decides may change sharply
/// with it and slowly along it. Far from all samples the value is 0: nothing is known beside the basis
/// functions.
class kriging {
 public:
  std::vector<std::string> variables;
  /// Correlation lengths of each ln(variable), then of each ratio: first/second, first/third, … 0: of no
  /// influence.
  std::vector<double> lengths;
  double sill = 0;   ///< variance of the field
  double noise = 0;  ///< variance of a single measurement
  std::vector<residual> points;
  /// Root mean square of what is predicted for each point from the others, and of the residuals themselves.
  double error = 0, without = 0;

  /// Chooses lengths, sill and noise of greatest likelihood. Empty where there are fewer than five points per
  /// variable, more than 300, a variable that is not positive, or where predicting each point from the others
  /// is not clearly better (0.7 times the error) than leaving the residuals alone, or these are below 0.1 %.
  [[nodiscard]] static std::optional<kriging> fit(std::span<residual const> residuals);

  /// To be called when the members above were set by hand. usage_error where they do not fit together.
  void prepare();

  /// ln(expected / fitted) at this point; usage_error without one of the variables.
  [[nodiscard]] double operator()(point const& at) const;
  /// Standard deviation of that.
  [[nodiscard]] double deviation(point const& at) const;

 private:
  [[nodiscard]] std::vector<double> covariances(point const& at) const;
  std::vector<std::vector<double>> places_;  // of the points: ln(variable) / length, then ln(ratio) / length
  std::vector<double> weights_;              // the inverse covariance times the values
  std::vector<double> inverse_;              // of the covariance
};

}  // namespace skel::model
