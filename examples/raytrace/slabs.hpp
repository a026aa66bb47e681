// Kay and Kajiya, "Ray Tracing Complex Scenes", SIGGRAPH 1986: a hierarchy of bounding volumes that
// is traversed nearest volume first. A volume consists of slabs, pairs of parallel planes whose
// normals are the same for all objects.
#pragma once

#include <array>
#include <vector>

#include "geometry.hpp"
#include "intersect.hpp"

namespace raytrace {

class slabs {
 public:
  /// `sets`: 3 (the coordinate axes) or 7.
  slabs(geometry const& shapes, int sets);

  struct waiting {
    float enter;
    std::uint32_t node;
  };
  /// The heap of unopened volumes. The caller keeps it, so that rays need not allocate.
  using scratch = std::vector<waiting>;

  [[nodiscard]] hit closest(geometry const& shapes, ray const& r, scratch& heap) const;
  [[nodiscard]] bool occluded(geometry const& shapes, ray const& r, float distance) const;

 private:
  struct node {
    volume around;
    std::uint32_t left = no_hit, right = 0;  ///< a leaf has no left child, and right is its shape's id
  };
  struct slope {  // of a ray, per plane set (section 2.2): P.o and 1 / P.d
    float origin[plane_sets];
    std::array<float, plane_sets> inverse;
    std::array<bool, plane_sets> parallel;
  };

  [[nodiscard]] std::uint32_t build(std::vector<std::uint32_t>& ids, std::size_t begin, std::size_t end,
                                    int axis);
  [[nodiscard]] slope slope_of(ray const& r) const;
  /// Returns the distance at which the ray enters the volume (0 if it starts inside), or -1.
  [[nodiscard]] float enter(node const& n, slope const& s, float limit) const;

  std::size_t sets_;
  std::vector<node> nodes_;  // leaves first, by shape
  std::uint32_t root_ = 0;
};

/// Intersects any shape, given by its id. Returns t > 0 of a valid hit, otherwise -1.
float intersect_shape(geometry const& shapes, std::uint32_t id, ray const& r);

}  // namespace raytrace
