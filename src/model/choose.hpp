// Chooses basis functions by cross-validation and judges them on held-out samples.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/model/fit.hpp"
#include "skel/model/model.hpp"

namespace skel::model {

/// Functions, and how likely they are the right ones.
struct weighted_functions {
  std::vector<basis_function> basis;
  double weight = 1;  ///< of all that were returned: 1
};

/// Tries all sums of up to three functions of the form 1, n^i log^j(n), or products of two of them up
/// to the third degree, and returns those that explain the samples about as well as the best; the best
/// comes first. This is the search space of Extra-P [Calotoiu13]. `P` may also stand in the denominator.
///
/// Weights come half from the likelihood of all samples, half from that of the larger configurations when
/// they are predicted from smaller ones (pseudo-BMA [Yao18]). Each function has a price, which grows
/// with the number of candidates [Chen08]; a simple function has a lower one. If the ranks
/// share the work (`shared_work`), functions without P are improbable.
[[nodiscard]] std::vector<weighted_functions> choose_functions(std::string const& name,
                                                               std::span<observation const> samples,
                                                               fit_options const& options = {},
                                                               bool shared_work = false);

/// Describes the variables that choose_functions() does not use: those missing in some samples, 0 in
/// some, or proportional to another one.
[[nodiscard]] std::vector<std::string> variables_left_out(std::span<observation const> samples);

/// Describes variables with fewer than three values, and variables that differ but that no function has.
[[nodiscard]] std::vector<std::string> variables_in_doubt(std::span<observation const> samples,
                                                          std::span<basis_function const> basis);

using fitting = std::function<fitted(std::span<observation const>)>;

/// Fits the smaller two thirds of the configurations (by the product of their variables) and
/// predicts the largest third. The errors are those of extrapolation, as in use. Empty if there are
/// too few samples.
[[nodiscard]] std::optional<held_out> hold_out(std::span<observation const> samples, fitting const& fit_them);

/// Returns `f`, whose residuals are kriged, or the same with another trend: a constant and one or
/// all variables, or the root of the product of two. The choice predicts the largest third of the
/// samples best from the others. The basis that fits best alone may have steep functions, for which
/// the corrections of kriging are unreliable outside of the samples.
[[nodiscard]] fitted with_best_trend(std::string const& name, fitted f, std::span<observation const> samples,
                                     fit_options const& options);

/// Returns nothing if no configuration was repeated.
[[nodiscard]] std::optional<repetition_noise> noise_of(std::span<observation const> samples);

}  // namespace skel::model
