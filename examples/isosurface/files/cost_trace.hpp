// The cost of the modeler's work, row by row: input of skel-simulate --layer-costs.
#pragma once

#include <string>

#include "job.hpp"

namespace isosurface {

/// Reads the volume and makes the surfaces again, in this thread, and writes what each slice took to read and
/// each row of cells to process, in CPU seconds, the least of three times, with the bytes of its surfaces:
///
///     what,layer,row,seconds,bytes
///     slice,0,,0.000214,
///     row,0,0,0.0000312,1840
///
/// Errors: those of reading; skel::error `path: reason` where it cannot be written.
void trace_costs(std::string const& path, open_function const& open, surface_options options);

}  // namespace isosurface
