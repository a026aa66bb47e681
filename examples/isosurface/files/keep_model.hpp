// Writes the piecewise polynomial model of a volume.
#pragma once

#include <string>

#include "job.hpp"

namespace isosurface {

/// The data of all nodes as the surfaces are found on them, by one pass over the volume: the slices that one
/// slice of nodes depends on are in memory, and its data. Nodes whose data depend on samples that are not
/// finite have NaN. Errors: those of reading; skel::error `path: reason` where it cannot be written.
void keep_model(std::string const& path, open_function const& open, surface_options const& options);

}  // namespace isosurface
