// A run of skel-volume: volumes in, pictures and report out.
#pragma once

#include "options.hpp"
#include "program/run_program.hpp"
#include "skel/context.hpp"

namespace volume {

/// Collective. Writes the pictures; what is left to be written is in the outcome.
[[nodiscard]] skel::program::run_outcome render_all(skel::context& ctx,
                                                    skel::program::common_options const& common,
                                                    options const& o);

}  // namespace volume
