// The pieces of a VTK XML grid, put together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "volume_reader.hpp"
#include "vtk_array.hpp"

namespace volume_data {

inline constexpr std::size_t most_vtk_pieces = 4096;

/// A box of grid points.
struct vtk_box {
  std::array<std::int64_t, 3> first{}, end{};  ///< along x, y, z; end is not in it

  [[nodiscard]] std::size_t size(std::size_t axis) const {
    return static_cast<std::size_t>(end[axis] - first[axis]);
  }
  [[nodiscard]] bool empty() const { return size(0) == 0 || size(1) == 0 || size(2) == 0; }
  [[nodiscard]] bool contains(vtk_box const& other) const;
};

struct vtk_piece {
  vtk_box extent;
  vtk_array array;  ///< with the values of its points
};

/// Throws usage_error unless the arrays are of one type and hold the values of their pieces, and the
/// pieces, which may overlap, cover the whole extent.
void check_pieces(vtk_file const& file, vtk_box const& whole, std::vector<vtk_piece> const& pieces);

/// A volume whose slices are assembled from the pieces. Where they overlap, the last one counts, as in
/// VTK's readers.
[[nodiscard]] std::unique_ptr<volume_reader> volume_of_pieces(volume_header header, vtk_file const& file,
                                                              vtk_box const& whole,
                                                              std::vector<vtk_piece> pieces);

}  // namespace volume_data
