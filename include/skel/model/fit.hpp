// Weighted least squares on basis functions, with what is needed to know how far to trust them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/model/basis.hpp"
#include "skel/model/kriging.hpp"

namespace skel::model {

/// A measured value at a point; `where` (file:line) names it in messages.
struct observation {
  point at;
  double value = 0;
  std::string where;
};

/// relative: each residual counts in proportion to the value, weights 1/t², so that large problems do not
/// decide alone; equal: ordinary least squares, as in the papers.
enum class weighting : std::uint8_t { relative, equal };

struct fit_options {
  weighting weights = weighting::relative;
  bool nonnegative = true;   ///< costs do not get cheaper: Lawson and Hanson's NNLS
  double confidence = 0.95;  ///< of the intervals
};

/// What lies so far from the curve that something else was measured, or mistyped.
struct outlier {
  std::string where;
  double value = 0, expected = 0;
};

/// A fitted curve.
struct fitted {
  std::vector<basis_function> basis;
  std::vector<double> coefficients;
  std::vector<double> low, high;  ///< confidence interval of each coefficient
  /// Of the coefficients, before they were kept from being negative; row by row.
  std::vector<double> covariance;
  double r2 = 0;         ///< weighted as the fit; 0 is a constant
  double condition = 0;  ///< of the weighted columns, scaled to length one
  /// Standard deviation of the residuals: relative to the value, or (equal weights) in its unit.
  double deviation = 0;
  weighting weights = weighting::relative;
  double confidence = 0.95;
  int samples = 0;
  [[nodiscard]] int degrees_of_freedom() const { return samples - static_cast<int>(basis.size()); }
  std::map<std::string, std::pair<double, double>> range;  ///< of each variable in the samples
  std::vector<outlier> outliers;                           ///< named, not left out
  /// What the functions leave of the samples, where that is more than noise: exp() of it is a factor.
  std::optional<kriging> residuals;
  std::vector<std::string> warnings;

  [[nodiscard]] double operator()(point const& at) const;
  /// The sum of the functions alone.
  [[nodiscard]] double trend(point const& at) const;
  /// Variance of the trend at this point, from that of the coefficients.
  [[nodiscard]] double variance(std::span<double const> functions) const;
  /// The basis functions' values.
  [[nodiscard]] std::vector<double> functions(point const& at) const;
  /// Standard deviation of one measurement around the curve where the curve is `value`.
  [[nodiscard]] double scatter(double value) const;
};

/// Weights of 1/t² are taken of the fitted t, iterated: of the measured one they would pull the curve down
/// by twice the variance. Intervals are Student's, of the fit that may be negative, cut off at 0.
///
/// Throws usage_error, with `name` in front, for fewer samples than basis functions + 1, values that are not
/// finite or (relative weights) not positive, unknown variables, and columns that are linearly dependent.
/// Warns of values that are all the same, of a condition number above 1e4, and of outliers: studentised
/// residuals by the median absolute deviation above 3.5 (Iglewicz and Hoaglin 1993).
[[nodiscard]] fitted fit(std::string const& name, std::span<observation const> samples,
                         std::span<basis_function const> basis, fit_options const& options = {});

/// Adds the kriging of the medians' residuals to a curve with relative weights that was fitted to these
/// samples, where that predicts them clearly better; the curve's deviation is then that of a measurement
/// around both.
void add_residuals(fitted& f, std::span<observation const> samples);

}  // namespace skel::model
