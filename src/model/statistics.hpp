// Quantiles.
#pragma once

#include <vector>

namespace skel::model {

/// Of the values, linearly between neighbours (type 7 of Hyndman and Fan 1996); 0 of none.
[[nodiscard]] double quantile(std::vector<double> values, double share);
[[nodiscard]] double median(std::vector<double> values);

/// t so that a variable of Student's distribution is below it with this probability.
[[nodiscard]] double student_quantile(double probability, int degrees_of_freedom);
/// The normal distribution's probability below x.
[[nodiscard]] double normal_probability(double x);

}  // namespace skel::model
