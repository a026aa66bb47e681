// A bounding volume hierarchy with eight children per node, split by the surface-area heuristic
// (Goldsmith and Salmon 1987; binned: Wald 2007). Node and leaf tests handle eight boxes or shapes
// per instruction (Wald, Benthin, Boulos, "Getting Rid of Packets", 2008).
#pragma once

#include <vector>

#include "geometry.hpp"

namespace raytrace {

constexpr int lanes = 8;

/// A child: the index of a node; or, with the top bit set, a leaf: two bits of kind and the index
/// of one packet.
using bvh_child = std::uint32_t;
enum class leaf_kind : std::uint8_t { facets, balls, clipped };
constexpr bvh_child leaf_bit = 0x8000'0000U;
constexpr bvh_child leaf_index_mask = 0x1fff'ffffU;

struct alignas(64) bvh_node {
  float bound[6][lanes];  ///< low x y z, high x y z; a missing child is an empty box
  bvh_child child[lanes];
};

struct alignas(64) facet_packet {
  float bound[6][lanes];  ///< as in bvh_node, of each shape
  float normal[3][lanes], offset[lanes];
  float edge[4][4][lanes];  ///< per edge: normal x y z, offset
  std::uint32_t id[lanes];
};

struct alignas(64) ball_packet {
  float bound[6][lanes];
  float center[3][lanes], radius_squared[lanes];
  std::uint32_t id[lanes];
};

/// Frusta and slivers, tested one at a time.
struct clipped_packet {
  std::uint32_t id[lanes];  ///< unused lanes no_hit
};

/// Pointers into a bvh, the form that compiled kernels use.
struct bvh_view {
  bvh_node const* nodes;
  facet_packet const* facets;
  ball_packet const* balls;
  clipped_packet const* clipped;
};

struct bvh {
  std::vector<bvh_node> nodes;  ///< the root first
  std::vector<facet_packet> facets;
  std::vector<ball_packet> balls;
  std::vector<clipped_packet> clipped;

  [[nodiscard]] bvh_view view() const { return {nodes.data(), facets.data(), balls.data(), clipped.data()}; }
};

bvh build_bvh(geometry const& shapes);

}  // namespace raytrace
