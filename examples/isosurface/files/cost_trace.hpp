// The cost of the modeler's work per row, the input of skel-simulate --layer-costs.
#pragma once

#include <string>

#include "job.hpp"

namespace isosurface {

/// Reads the volume and makes the surfaces again in this thread. Writes the CPU seconds to read
/// each slice and to process each row of cells, the minimum of three runs, with the bytes of its
/// surfaces:
///
///     what,layer,row,seconds,bytes
///     slice,0,,0.000214,
///     row,0,0,0.0000312,1840
///
/// Throws the errors of reading, and skel::error `path: reason` if the file cannot be written.
void trace_costs(std::string const& path, open_function const& open, surface_options options);

}  // namespace isosurface
