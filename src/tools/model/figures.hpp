// The figures of skel-model plot.
#pragma once

#include <span>
#include <vector>

#include "skel/model/machine.hpp"
#include "skel/model/model.hpp"
#include "skel/model/plot.hpp"
#include "skel/model/predict.hpp"

namespace skel::model {

/// Per term: fitted against measured, and the residuals relative to the measured values.
[[nodiscard]] std::vector<plot> fit_figures(model const& m, std::span<sample const> samples);

/// Predicted against measured seconds of the whole runs in the samples.
[[nodiscard]] plot run_figure(model const& m, machine const* where, std::span<sample const> samples,
                              predict_options const& how);

/// Seconds against bytes, measured and fitted, per number of ranks; then l(P) and g(P).
[[nodiscard]] std::vector<plot> machine_figures(machine const& m);

}  // namespace skel::model
