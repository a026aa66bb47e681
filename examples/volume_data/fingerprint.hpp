// Whether two ranks that open a volume by name get the same one.
#pragma once

#include <string>

#include "grid.hpp"

namespace volume_data {

/// A hash of type, size, coordinates and values: the same for the same volume in another file or format.
[[nodiscard]] std::string fingerprint(grid const& g);

/// The same kind of hash without reading all of a large volume: beyond 64 MiB of values only some slices
/// count, spread evenly where skipping costs nothing, otherwise the first ones. Reads `volume`, which must
/// not have been read from.
[[nodiscard]] std::string fingerprint(volume_reader& volume);

}  // namespace volume_data
