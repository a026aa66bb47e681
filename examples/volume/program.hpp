// A run of skel-volume: reads volumes, writes pictures and the report.
#pragma once

#include "options.hpp"
#include "program/run_program.hpp"
#include "skel/context.hpp"

namespace volume {

/// Collective. Writes the pictures; returns the data of the report.
[[nodiscard]] skel::program::run_outcome render_all(skel::context& ctx,
                                                    skel::program::common_options const& common,
                                                    options const& o);

}  // namespace volume
