// A grid made ready for the kernel: scaled values, planes, what is visible, gradients. Made once for all
// views.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "grid.hpp"
#include "kernel.hpp"
#include "mapping.hpp"
#include "specification.hpp"

namespace skel::volume {

class prepared_volume {
 public:
  /// usage_error if the grid has less than two points along an axis, or more than 2^31 in all.
  prepared_volume(volume_data::grid const& grid, specification const& spec);

  [[nodiscard]] volume_view const& view() const noexcept { return view_; }
  [[nodiscard]] volume::mapping const& mapping() const noexcept { return *mapping_; }
  [[nodiscard]] vec3 const& low() const noexcept { return low_; }      ///< lowest corner, stretched
  [[nodiscard]] vec3 const& sides() const noexcept { return sides_; }  ///< lengths, stretched
  /// Coordinates of the grid's planes, stretched, counted from the lowest corner.
  [[nodiscard]] std::array<std::vector<double>, 3> const& planes() const noexcept { return planes_; }
  [[nodiscard]] std::size_t memory() const noexcept;  ///< bytes

 private:
  void stretch(volume_data::grid const& grid, specification const& spec);
  void scale_values(volume_data::grid const& grid, specification const& spec);
  void lay_out_pieces();
  void lay_out_axes();
  void find_visible_cells();
  static void measure_distances(std::vector<std::uint8_t>& blocks, std::array<int, 3> const& count);
  void find_gradients();
  void set_light(specification const& spec);

  vec3 low_{}, sides_{};
  double diagonal_ = 0;
  std::array<std::vector<double>, 3> planes_;
  std::unique_ptr<volume::mapping> mapping_;
  std::vector<float> values_, gradients_, pieces_;
  std::vector<std::uint8_t> cells_, missing_;
  std::vector<axis_cell> axes_;
  std::array<std::vector<int>, 3> finders_;
  volume_view view_{};
};

}  // namespace skel::volume
