#include "statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

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

double student_quantile(double probability, int degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

double student_probability(double t, int degrees_of_freedom) {
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), t);
}

double normal_probability(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace skel::model
