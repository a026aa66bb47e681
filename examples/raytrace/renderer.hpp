// Renders rows or rectangles of one picture of one scene, the unit of work of the farm.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scene.hpp"
#include "shading.hpp"

namespace raytrace {

/// All accelerators give the same picture to the bit.
enum class accelerator {
  bvh,    ///< surface-area heuristic, eight wide: the fastest
  slabs,  ///< Kay and Kajiya's hierarchy of bounding slabs, as in [Lee97]
  brute,  ///< every shape for every ray: for tests
};

/// Throws a scene_error that lists the known names.
accelerator accelerator_named(std::string_view name);

struct settings {
  int width = 512, height = 512;  ///< pixels
  int depth = 5;                  ///< generations of rays, the primary ray being the first
  raytrace::accelerator accelerator = accelerator::bvh;
  int plane_sets = 7;  ///< slabs only: 3 (a box) or 7 (also its diagonals)
  /// Factor of the intensity of lights without a colour. 1: SPD's rule for NFF; 2: as bright as the
  /// pictures made from SPD's POV-Ray output, which gives each of L lights 1 / sqrt(L).
  double brightness = 1;
  std::string instructions;  ///< bvh only: "portable" or "avx2"; empty: the best available
};

/// The constructor builds the accelerator. Rendering is const and thread-safe.
///
///     raytrace::renderer const picture(raytrace::make_spd("balls:4"), {});
///     std::vector<float> row(3 * 512);
///     raytrace::ray_counts counts;
///     picture.render_row(0, row, counts);
class renderer {
 public:
  /// Throws scene_error if a setting is out of range.
  renderer(scene const& world, settings const& how);
  ~renderer();
  renderer(renderer&&) noexcept;
  renderer& operator=(renderer&&) noexcept;

  /// Renders row y (0 is the top) to 3 * width linear RGB floats, 0 black to 1 white; adds to
  /// `counts`.
  void render_row(int y, std::span<float> rgb, ray_counts& counts) const;
  /// Renders pixels x0 <= x < x1, y0 <= y < y1, row by row, with the same bits as render_row.
  void render_tile(int x0, int y0, int x1, int y1, std::span<float> rgb, ray_counts& counts) const;

  [[nodiscard]] int width() const noexcept;
  [[nodiscard]] int height() const noexcept;
  /// The number of shapes that rays are tested against: spheres, cones, convex pieces of polygons.
  [[nodiscard]] std::size_t shapes() const noexcept;

  /// Returns the nearest hit of a ray that starts within the extent of the scene and its eye,
  /// relative to the eye; its id is that of a shape. See primitive_of() for the scene's primitive.
  [[nodiscard]] hit closest(ray const& r) const;
  /// The same for many rays, which are traced together if neighbours are alike.
  void closest(std::span<ray const> rays, std::span<hit> hits) const;
  /// Says of each ray whether it meets something at its distance or before.
  void occluded(std::span<ray const> rays, std::span<float const> distances, std::span<bool> hidden) const;
  [[nodiscard]] std::uint32_t primitive_of(std::uint32_t shape) const;
  [[nodiscard]] ray primary(int x, int y) const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace raytrace
