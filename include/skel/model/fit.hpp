// Weighted least squares on basis functions, with intervals, outliers and warnings.
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

/// A measured value at a point.
struct observation {
  point at;           ///< the values of the variables
  double value = 0;   ///< the measured value
  std::string where;  ///< file:line, for messages
};

/// How residuals are weighted.
enum class weighting : std::uint8_t {
  relative,  ///< by 1/t², relative to the value t, so that large problems do not dominate
  equal      ///< as in the papers
};

/// Options of fit().
struct fit_options {
  weighting weights = weighting::relative;  ///< how residuals are weighted
  double confidence = 0.95;                 ///< of the intervals, between 0 and 1
};

/// An observation far from the curve.
struct outlier {
  std::string where;    ///< file:line
  double value = 0;     ///< the measured value
  double expected = 0;  ///< the curve's value
};

/// Functions with fitted coefficients.
struct formula {
  std::vector<basis_function> basis;  ///< the functions
  std::vector<double> coefficients;   ///< one per function
  /// Covariance of the coefficients without the constraint that they are nonnegative; row by row.
  std::vector<double> covariance;
  /// Probability that these are the right functions, among those that were compared.
  double weight = 1;

  /// The sum of the functions at this point.
  [[nodiscard]] double trend(point const& at) const;
  /// The basis functions' values at this point.
  [[nodiscard]] std::vector<double> functions(point const& at) const;
  /// Variance of the trend where the basis functions have these values, from that of the
  /// coefficients.
  [[nodiscard]] double variance(std::span<double const> functions) const;
};

/// A fitted curve.
struct fitted : formula {
  std::vector<double> low;   ///< lower end of each coefficient's confidence interval
  std::vector<double> high;  ///< upper end
  double r2 = 0;             ///< coefficient of determination, weighted as the fit
  double condition = 0;      ///< of the weighted columns, scaled to length one
  /// Standard deviation of the residuals: relative to the value, or (equal weights) in its unit.
  double deviation = 0;
  weighting weights = weighting::relative;  ///< as in fit_options
  double confidence = 0.95;                 ///< as in fit_options
  int samples = 0;                          ///< the number of observations
  /// The number of observations minus the number of coefficients.
  [[nodiscard]] int degrees_of_freedom() const { return samples - static_cast<int>(basis.size()); }
  std::map<std::string, std::pair<double, double>> range;  ///< least and greatest value per variable
  std::vector<outlier> outliers;                           ///< they take part in the fit
  /// Interpolates the logarithms of measured / fitted, where those are more than noise.
  std::optional<kriging> residuals;
  /// Other functions that explain the samples about as well; without `residuals` only.
  std::vector<formula> alternatives;
  std::vector<std::string> warnings;  ///< one line each

  /// The expected value at this point: the trend, corrected by `residuals`.
  [[nodiscard]] double operator()(point const& at) const;
  /// Standard deviation of one measurement around a curve whose value is `value`.
  [[nodiscard]] double scatter(double value) const;
};

/// Fits the coefficients of `basis` to `samples`, none below 0 (Lawson and Hanson's NNLS). Relative weights
/// use the fitted t, iterated: the measured t would bias the curve downwards by twice the variance. Intervals
/// are Student's, of the unconstrained fit, cut off at 0.
///
/// Throws usage_error, with `name` in front, for fewer samples than basis functions + 1, values
/// that are not finite or (relative weights) not positive, unknown variables, and linearly
/// dependent columns. Warns of values that are all the same, of a condition number above 1e4, and
/// of outliers: studentised residuals by the median absolute deviation above 3.5 (Iglewicz and
/// Hoaglin 1993).
[[nodiscard]] fitted fit(std::string const& name, std::span<observation const> samples,
                         std::span<basis_function const> basis, fit_options const& options = {});

/// Adds kriging of the medians' residuals to a curve that was fitted to these samples with relative
/// weights, if that predicts them clearly better. The curve's deviation is then that of a
/// measurement around both.
void add_residuals(fitted& f, std::span<observation const> samples);

}  // namespace skel::model
