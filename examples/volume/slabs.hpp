// A grid in slabs: where it is cut, and in which order rays come through.
#pragma once

#include <cstddef>
#include <vector>

#include "camera.hpp"
#include "prepared_volume.hpp"

namespace volume {

/// `layers` of cells in `count` slabs (at most a layer each) of sizes that differ by one at most.
[[nodiscard]] std::vector<slab> cut_into_slabs(std::size_t layers, std::size_t count);

/// Bytes that a rank needs for a slab: the values as they are read, and prepared_volume. `lit`: with
/// gradients.
[[nodiscard]] std::size_t slab_memory(volume_data::volume_header const& header, std::size_t layers, bool lit);

/// The smallest number of slabs of which two, one in use and one on its way, fit into `bytes`.
/// Throws usage_error if not even two layers do.
[[nodiscard]] std::size_t slabs_for_memory(volume_data::volume_header const& header, std::size_t bytes,
                                           bool lit);

/// An order in which every ray of the view meets the slabs from front to back: from the one the eye is in or
/// next to upwards, then downwards. `planes`: coordinates along z, as the camera's.
[[nodiscard]] std::vector<std::size_t> front_to_back(std::vector<slab> const& slabs,
                                                     std::vector<double> const& planes, camera const& view);

}  // namespace volume
