// The grid object [Storm95, §2.1]: a rectilinear grid with all of its values in memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "volume_reader.hpp"

namespace volume_data {

struct grid {
  volume_header header;
  std::vector<std::byte> values;  ///< of header.type, in the machine's byte order, x fastest

  /// The value at a grid point.
  [[nodiscard]] double at(std::size_t x, std::size_t y, std::size_t z) const;
  /// All values.
  [[nodiscard]] std::vector<float> floats() const;
};

/// Reads all slices of an opened, unread volume. Memory grows with the values read.
[[nodiscard]] grid read_grid(volume_reader& volume);

/// `path` as open_volume has it.
[[nodiscard]] grid read_grid(std::string const& path);

}  // namespace volume_data
