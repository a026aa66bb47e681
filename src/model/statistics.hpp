// Quantiles of samples and distributions.
#pragma once

#include <span>
#include <vector>

namespace skel::model {

/// Quantile of the values, linear between neighbours (type 7 of Hyndman and Fan 1996); 0 if there
/// are none.
[[nodiscard]] double quantile(std::vector<double> values, double share);
[[nodiscard]] double median(std::vector<double> values);

struct moments {
  double mean = 0;
  double variance = 0;  ///< of a sample; 0 for a single value
  [[nodiscard]] double deviation() const;
};
[[nodiscard]] moments moments_of(std::span<double const> values);

/// Returns t such that a variable of Student's distribution is below t with this probability.
[[nodiscard]] double student_quantile(double probability, int degrees_of_freedom);
/// Probability that a variable of Student's distribution is below t.
[[nodiscard]] double student_probability(double t, int degrees_of_freedom);
/// Probability that a standard normal variable is below x.
[[nodiscard]] double normal_probability(double x);

}  // namespace skel::model
