// Writes the piecewise polynomial model of a volume.
#pragma once

#include <string>

#include "job.hpp"

namespace isosurface {

/// Writes the data of all nodes from which the surfaces are made, in one pass over the volume.
/// Memory holds the slices that one slice of nodes depends on, and its data. Nodes whose data
/// depend on samples that are not finite have NaN. Throws the errors of reading, and skel::error
/// `path: reason` if the file cannot be written.
void keep_model(std::string const& path, open_function const& open, surface_options const& options);

}  // namespace isosurface
