// Compares volumes that several ranks open by name.
#pragma once

#include <string>

#include "grid.hpp"

namespace volume_data {

/// A hash of type, size, coordinates and values. Independent of file and format.
[[nodiscard]] std::string fingerprint(grid const& g);

/// The same kind of hash without reading all of a large volume. Beyond 64 MiB of values it uses
/// only some slices: evenly spread ones if skipping is free, otherwise the first ones. `volume`
/// must be unread and is read.
[[nodiscard]] std::string fingerprint(volume_reader& volume);

}  // namespace volume_data
