// Kay and Kajiya, "Ray Tracing Complex Scenes", SIGGRAPH 1986: bounding volumes made of slabs, pairs of
// parallel planes whose normals are the same for all objects; a hierarchy of them, traversed nearest volume
// first.
#pragma once

#include <array>
#include <vector>

#include "geometry.hpp"
#include "intersect.hpp"

namespace skel::raytrace {

class slabs {
 public:
  static constexpr std::size_t most_sets = 7;

  /// 3 plane sets: the coordinate axes. 7: also (+-1, +-1, 1) / sqrt(3).
  slabs(geometry const& shapes, int plane_sets);

  struct waiting {
    float enter;
    std::uint32_t node;
  };
  /// The heap of volumes still to be opened; kept by the caller so that not every ray allocates.
  using scratch = std::vector<waiting>;

  [[nodiscard]] hit closest(geometry const& shapes, ray const& r, scratch& heap) const;
  [[nodiscard]] bool occluded(geometry const& shapes, ray const& r, float distance) const;
  [[nodiscard]] std::size_t memory() const { return nodes_.capacity() * sizeof(node); }

 private:
  struct extent {
    float near = 3.402823466e+38F, far = -3.402823466e+38F;
  };
  struct node {
    std::array<extent, most_sets> slab;
    std::uint32_t left = no_hit, right = 0;  ///< a leaf has no left child, and right is its shape's id
  };
  struct slope {  // of a ray, per plane set (section 2.2): P.o and 1 / P.d
    std::array<float, most_sets> origin, inverse;
    std::array<bool, most_sets> parallel;
  };

  [[nodiscard]] std::uint32_t build(std::vector<std::uint32_t>& ids, std::size_t begin, std::size_t end,
                                    int axis);
  [[nodiscard]] node leaf(geometry const& shapes, std::uint32_t id) const;
  [[nodiscard]] slope slope_of(ray const& r) const;
  /// The distance at which the ray enters the volume (0 if it starts inside), or -1.
  [[nodiscard]] float enter(node const& n, slope const& s, float limit) const;

  std::size_t sets_;
  std::vector<node> nodes_;  // leaves first, by shape
  std::uint32_t root_ = 0;
};

/// Any shape, by its id.
float intersect_shape(geometry const& shapes, std::uint32_t id, ray const& r);

}  // namespace skel::raytrace
