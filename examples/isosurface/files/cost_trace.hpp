// The cost of the modeler's work per row, the input of skel-simulate --layer-costs.
#pragma once

#include <string>

#include "job.hpp"

namespace isosurface {

/// Reads the volume and makes the surfaces again in this thread, a row of cells at a time. Writes CPU
/// seconds, the minimum of three runs, and bytes of messages:
///
///     what,layer,row,seconds,bytes
///     first,0,0,0.0000214,            until the row is ready, where a host's share begins with the layer
///     next,0,0,0.0000113,             the same where it began with layer 0
///     row,0,0,0.0000312,1840          to process the row; the bytes of its surfaces
///     packet,0,0,,16612               a packet of one row
///     packet,0,1,,24964               a packet of two rows
///
/// Throws the errors of reading, and skel::error `path: reason` if the file cannot be written.
void trace_costs(std::string const& path, open_function const& open, surface_options const& options);

}  // namespace isosurface
