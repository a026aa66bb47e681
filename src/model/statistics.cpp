#include "statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace skel::model {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  double const at = share * static_cast<double>(values.size() - 1);
  auto const below = static_cast<std::size_t>(at);
  auto const above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double moments::deviation() const { return std::sqrt(variance); }

moments moments_of(std::span<double const> values) {
  auto const n = static_cast<double>(values.size());
  moments m{std::accumulate(values.begin(), values.end(), 0.0) / n, 0};
  double sum = 0;
  for (double const x : values) sum += (x - m.mean) * (x - m.mean);
  if (values.size() > 1) m.variance = sum / (n - 1);
  return m;
}

double student_quantile(double probability, int degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

double student_probability(double t, int degrees_of_freedom) {
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), t);
}

double normal_probability(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace skel::model
