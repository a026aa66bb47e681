// A grid prepared for the kernel: scaled values, planes, visibility and gradients. Prepared once
// for all views.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grid.hpp"
#include "kernel.hpp"
#include "mapping.hpp"
#include "specification.hpp"

namespace volume {

/// The facts about the whole grid that a slab needs.
struct whole_grid {
  std::array<std::vector<double>, 3> coordinates;
  double least = 0, most = 1;                  ///< range of all finite values
  bool has_values = true;                      ///< or all are missing
  std::array<float, 3> box_low{}, box_high{};  ///< box around all visible cells
};

/// Layers of cells from plane `first` to plane `end` along z.
struct slab {
  std::size_t first = 0, end = 0;
  [[nodiscard]] std::size_t layers() const { return end - first; }
  /// The planes that a slab is built from: its own, and one more on each side for the gradients, if
  /// they exist.
  [[nodiscard]] std::size_t first_plane() const { return first == 0 ? 0 : first - 1; }
  [[nodiscard]] std::size_t end_plane(std::size_t count) const { return std::min(count, end + 2); }
};

class prepared_volume {
 public:
  /// Throws usage_error if the grid has fewer than two points along an axis, or more than 2^29
  /// points.
  prepared_volume(volume_data::grid const& grid, specification const& spec);
  /// Prepares a slab. `planes`: its planes from first_plane() to end_plane(). Rays leave it with
  /// the same bits as in the whole grid.
  prepared_volume(volume_data::grid const& planes, specification const& spec, whole_grid const& whole,
                  slab const& part);

  [[nodiscard]] volume_view const& view() const noexcept { return view_; }
  [[nodiscard]] volume::mapping const& mapping() const noexcept { return *mapping_; }
  [[nodiscard]] vec3 const& low() const noexcept { return extent_.low; }      ///< lowest corner, stretched
  [[nodiscard]] vec3 const& sides() const noexcept { return extent_.sides; }  ///< lengths, stretched
  /// Coordinates of the grid's planes, stretched, relative to the lowest corner.
  [[nodiscard]] std::array<std::vector<double>, 3> const& planes() const noexcept { return extent_.planes; }
  [[nodiscard]] std::size_t memory() const noexcept;  ///< bytes
  struct box {
    std::array<float, 3> low{}, high{};
  };
  /// Whether the whole grid has a finite value.
  [[nodiscard]] bool has_values() const noexcept { return has_values_; }
  /// The box around the visible cells of this slab; empty if low is not below high.
  [[nodiscard]] box const& own_box() const noexcept { return own_box_; }

 private:
  void prepare(volume_data::grid const& grid, specification const& spec, whole_grid const& whole);
  void stretch(std::array<std::vector<double>, 3> const& coordinates, specification const& spec,
               std::string const& name);
  void scale_values(volume_data::grid const& grid, specification const& spec, double least, double most);
  void lay_out_pieces();
  void lay_out_axes();
  void find_visible_cells();
  [[nodiscard]] bool shows(std::size_t at) const;
  static void measure_distances(std::vector<std::uint8_t>& blocks, std::array<int, 3> const& count);
  void find_gradients();
  void set_light(specification const& spec);

  slab part_;
  box own_box_;
  std::size_t ahead_ = 0;  // number of values before the slab's own
  struct {
    vec3 low{}, sides{};
    double diagonal = 0;
    std::array<std::vector<double>, 3> planes;
  } extent_;  // stretched
  std::unique_ptr<volume::mapping> mapping_;
  std::vector<float> values_, gradients_;
  std::vector<std::uint8_t> cells_, visible_, missing_;
  // Tables of the kernel: the mapping's pieces, the cells of each axis, and the cell at each position.
  struct {
    std::vector<float> pieces;
    std::vector<axis_cell> axes;
    std::array<std::vector<int>, 3> finders;
  } tables_;
  volume_view view_{};
  bool has_values_ = true;
};

/// The least and greatest finite value; 0 and 1 if there are none. Greatest is always above least.
struct value_range {
  double least, most;
  bool has_values;
};
class range_finder {
 public:
  void add(std::span<double const> values);
  [[nodiscard]] value_range result() const;

 private:
  double least_ = std::numeric_limits<double>::infinity(), most_ = -std::numeric_limits<double>::infinity();
};

}  // namespace volume
