// Chooses the basis functions to which kriging adds the residuals.
#include <utility>

#include "model/choose.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

basis_function power(std::string const& variable, double exponent) { return {{{variable, exponent, 0}}}; }

std::vector<std::vector<basis_function>> plain_trends(std::vector<std::string> const& variables) {
  std::vector<std::vector<basis_function>> all;
  std::vector<basis_function> sum{basis_function{}};
  for (auto const& v : variables) {
    all.push_back({basis_function{}, power(v, 1)});
    sum.push_back(power(v, 1));
    for (auto const& w : variables)
      if (v < w) all.push_back({basis_function{}, {{{v, 0.5, 0}, {w, 0.5, 0}}}});
  }
  if (variables.size() > 1) all.push_back(std::move(sum));
  return all;
}

}  // namespace

fitted with_best_trend(std::string const& name, fitted f, std::span<observation const> samples,
                       fit_options const& options) {
  auto const kriged = [&](std::span<basis_function const> basis, std::span<observation const> some) {
    auto g = fit(name, some, basis, options);
    add_residuals(g, some);
    return g;
  };
  auto const error_of = [&](std::span<basis_function const> basis) {
    return hold_out(samples, [&](auto some) { return kriged(basis, some); });
  };
  auto best = error_of(f.basis);
  if (!best) return f;
  std::vector<std::string> variables;
  for (auto const& v : f.residuals->variables)
    if (v != "P" && v != "threads" && v != "tasks") variables.push_back(v);
  for (auto const& basis : plain_trends(variables)) {
    auto const error = error_of(basis);
    if (!error || error->percentile_90 >= best->percentile_90) continue;
    try {
      auto g = kriged(basis, samples);
      if (!g.residuals) continue;
      best = error;
      f = std::move(g);
    } catch (usage_error const&) {
      continue;  // collinear in the samples
    }
  }
  return f;
}

}  // namespace skel::model
