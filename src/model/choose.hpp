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

/// Chooses 1 and up to three functions of the form n^i log^j(n), or products of two of them up to
/// the third degree. This is the search space of Extra-P (Calotoiu et al., "Using automated
/// performance modeling to find scalability bugs in complex codes", SC 2013). Functions are added
/// one at a time. Among those whose relative error of cross-validation is within a standard error
/// of the least, the simplest is added. The search ends if the error falls by less than two
/// standard errors, or below 0.1 %. Whole configurations are held out, never one of several
/// repetitions, and once the largest third. `P` may also stand in the denominator: if the ranks share the
/// work (`shared_work`) and the functions found do not depend on P, they are divided by it, unless that
/// raises the error by more than two standard errors.
[[nodiscard]] std::vector<basis_function> choose_basis(std::string const& name,
                                                       std::span<observation const> samples,
                                                       fit_options const& options = {},
                                                       bool shared_work = false);

/// Describes the variables that choose_basis() does not use: those missing in some samples, 0 in
/// some, or proportional to another one.
[[nodiscard]] std::vector<std::string> variables_left_out(std::span<observation const> samples);

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
