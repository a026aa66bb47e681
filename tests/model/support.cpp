#include <cmath>
#include <numbers>

#include "model_support.hpp"

namespace test {

double dice::normal() {
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<double> normal_equations(std::vector<std::vector<double>> const& rows,
                                     std::vector<double> const& values, std::vector<double> const& weights) {
  auto const p = rows.front().size();
  std::vector<std::vector<long double>> m(p, std::vector<long double>(p + 1));
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j)
        m[i][j] += static_cast<long double>(weights[k]) * rows[k][i] * rows[k][j];
      m[i][p] += static_cast<long double>(weights[k]) * rows[k][i] * values[k];
    }
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t r = 0; r < p; ++r) {
      if (r == i) continue;
      auto const f = m[r][i] / m[i][i];
      for (std::size_t j = 0; j <= p; ++j) m[r][j] -= f * m[i][j];
    }
  std::vector<double> x;
  for (std::size_t i = 0; i < p; ++i) x.push_back(static_cast<double>(m[i][p] / m[i][i]));
  return x;
}

}  // namespace test
