// Which basis functions: chosen by cross-validation, and judged on what was held out.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/model/fit.hpp"
#include "skel/model/model.hpp"

namespace skel::model {

/// Chooses 1 and up to three functions of the form n^i log^j(n), or products of two of them up to the third
/// degree, the search space
/// of Extra-P (Calotoiu et al., "Using automated performance modeling to find scalability bugs in complex
/// codes", SC 2013). One at a time: of those whose relative error of cross-validation is within a standard
/// error of the least the simplest, as long as it lowers the error by more than two, and until that is below
/// 0.1 %. Whole configurations are left out, never one of several repetitions, and once the largest third.
/// `P` may also stand in the denominator.
[[nodiscard]] std::vector<basis_function> choose_basis(std::string const& name,
                                                       std::span<observation const> samples,
                                                       fit_options const& options = {});

/// In words, which variables of the samples choose_basis() does not use, and why: they are not in all
/// samples, are 0 in some, or are in proportion to another one.
[[nodiscard]] std::vector<std::string> variables_left_out(std::span<observation const> samples);

using fitting = std::function<fitted(std::span<observation const>)>;

/// Fits the smaller two thirds of the configurations (by the product of their variables) and predicts the
/// largest third: errors of extrapolation, as in use. Empty if there are too few.
[[nodiscard]] std::optional<held_out> hold_out(std::span<observation const> samples, fitting const& fit_them);

/// `f`, whose residuals are kriged, or the same with another basis: constant and one or all variables, or the
/// root of the product of two; whichever predicts the largest third of the samples best from the others. The
/// basis that fits best alone may have steep functions, on which what kriging adds cannot be relied outside
/// of the samples.
[[nodiscard]] fitted with_best_trend(std::string const& name, fitted f, std::span<observation const> samples,
                                     fit_options const& options);

/// Empty without repetitions.
[[nodiscard]] std::optional<repetition_noise> noise_of(std::span<observation const> samples);

}  // namespace skel::model
