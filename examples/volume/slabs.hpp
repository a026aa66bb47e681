// Cuts a grid into slabs and orders them along the view.
#pragma once

#include <cstddef>
#include <vector>

#include "camera.hpp"
#include "prepared_volume.hpp"

namespace volume {

/// Cuts `layers` of cells into `count` slabs of at least one layer, whose sizes differ by at most
/// one.
[[nodiscard]] std::vector<slab> cut_into_slabs(std::size_t layers, std::size_t count);

/// Bytes that a rank needs for a slab: the values as read, and prepared_volume. `lit`: with
/// gradients.
[[nodiscard]] std::size_t slab_memory(volume_data::volume_header const& header, std::size_t layers, bool lit);

/// The smallest number of slabs such that two, one in use and one in transfer, fit into `bytes`.
/// Throws usage_error if not even two layers fit.
[[nodiscard]] std::size_t slabs_for_memory(volume_data::volume_header const& header, std::size_t bytes,
                                           bool lit);

/// An order in which every ray of the view meets the slabs from front to back: from the slab that
/// contains or is nearest to the eye upwards, then downwards. `planes`: coordinates along z, in the
/// camera's system.
[[nodiscard]] std::vector<std::size_t> front_to_back(std::vector<slab> const& slabs,
                                                     std::vector<double> const& planes, camera const& view);

}  // namespace volume
