// A run of skel-volume: volumes in, pictures and report out.
#pragma once

#include "options.hpp"
#include "program/run_program.hpp"
#include "skel/context.hpp"

namespace skel::volume {

/// Collective. Writes the pictures; what is left to be written is in the outcome.
[[nodiscard]] program::run_outcome render_all(context& ctx, program::common_options const& common,
                                              options const& o);

}  // namespace skel::volume
