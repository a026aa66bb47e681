// Values in memory as a volume that is read slice by slice.
#pragma once

#include <memory>

#include "skel/applications/grid_values.hpp"
#include "volume_reader.hpp"

namespace volume_data {

/// Keeps a copy of the span, not of the values. Throws usage_error if values, sizes and coordinates
/// do not fit.
[[nodiscard]] std::unique_ptr<volume_reader> open_values(grid_values const& grid);

}  // namespace volume_data
