#include "differences.hpp"

#include <algorithm>
#include <string>

#include "skel/error.hpp"

namespace isosurface {

difference_rule difference_rule_named(std::string_view name) {
  if (name == "paper") return difference_rule::paper;
  if (name == "2") return difference_rule::second;
  if (name == "4") return difference_rule::fourth;
  throw skel::usage_error("--differences: expected 2, 4 or paper, found \"" + std::string(name) + "\"");
}

stencil difference(std::span<double const> at, std::size_t i, difference_rule rule) {
  bool const end = i == 0 || i + 1 == at.size();
  std::size_t const points = rule == difference_rule::fourth         ? 5
                             : rule == difference_rule::paper && end ? 2
                                                                     : 3;
  stencil s;
  s.count = std::min(points, at.size());
  auto const before = points / 2;
  s.first = points == 2 ? (i == 0 ? 0 : i - 1) : std::min(i - std::min(i, before), at.size() - s.count);
  // Derivatives of the Lagrange polynomials at at[i]; their sum is zero, which determines the
  // weight of point i itself.
  auto const own = i - s.first;
  double sum = 0;
  for (std::size_t j = 0; j < s.count; ++j) {
    if (j == own) continue;
    double w = 1 / (at[s.first + j] - at[i]);
    for (std::size_t m = 0; m < s.count; ++m)
      if (m != j && m != own) w *= (at[i] - at[s.first + m]) / (at[s.first + j] - at[s.first + m]);
    s.weights[j] = w;
    sum += w;
  }
  s.weights[own] = -sum;
  return s;
}

}  // namespace isosurface
