// The code that integrates along rays. It is compiled once per instruction set and chosen at run
// time, like the ray tracer's (raytrace/kernel.hpp): kernel_*.cpp define SKEL_VOLUME_TARGET and
// include kernel.inl. The *.inl files must not use functions of the standard library or inline
// functions that could exist out of line. All instruction sets perform the same operations in the
// same order without contraction and give the same bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volume {

/// A kernel processes tiles of pixels. The tile size is the same for all kernels, because ranks
/// with different processors share a picture. A kernel processes its rays in packets of its number
/// of lanes, eight or sixteen.
inline constexpr int tile_width = 4, tile_height = 4, tile_pixels = 16;

/// A packet's data about one cell along one axis. Lengths are stretched and relative to the grid's
/// lowest corner.
struct axis_cell {
  float low, inverse_width;
  float up, down;  ///< the planes through which rising and falling rays leave; infinite at the grid's border
};

/// Columns of the table of pieces, see mapping_piece (mapping.hpp).
enum column : int { lower, upper, knot, k0, k1, c0, c1 = c0 + 3, columns = c1 + 3 };

/// Pieces of the mapping in groups of eight, the last group padded; each group is stored by column.
struct pieces_view {
  int count, groups;
  float const* table;
};

/// Distance of a cell from the nearest visible block. visible_cell: the cell itself has extinction;
/// 0: its block has; d: no block closer than d (along any axis) has.
inline constexpr std::uint8_t visible_cell = 255;
inline constexpr int block_shift = 2;  ///< blocks of 4 x 4 x 4 cells

/// A plain struct with all that a ray needs: kernels compiled for other instructions share no functions with
/// the rest of the program.
struct volume_view {
  float const* values;          ///< scaled, at grid points, x fastest
  std::uint8_t const* cells;    ///< indexed by the grid point at the cell's lowest corner
  std::uint8_t const* visible;  ///< one bit per cell: whether it is a visible_cell
  float const* gradients;       ///< four floats per grid point, the last unused; nullptr without light
  axis_cell const* axes;        ///< all of x, then y, then z
  int cell_count[3], first_cell[3];
  int stride[3];                  ///< in grid points
  int first_slice, end_slice;     ///< cells along z of this slab; values, cells and gradients begin there
  float box_low[3], box_high[3];  ///< around all visible cells; empty if box_low[0] > box_high[0]
  int const* finders[3];          ///< cells along each axis, by position, see find_cells()
  float find_scale[3];
  int find_count[3];
  pieces_view pieces;
  float tolerance;           ///< scaled
  bool jumps;                ///< whether opacity jumps at a knot
  float least_bend;          ///< smaller bends are ignored near knots: the tolerance, or 0 if opacity jumps
  float most_bend;           ///< larger bends are cut where no knot is near
  float least_transparency;  ///< transparency at which a ray ends
  float light[3];            ///< direction towards it
  bool light_from_eye;
  float ambient, diffuse, specular;
  int shininess;
  int light_samples;  ///< minimum number of parts per lit cell, at most 16
  float fog_density, fog[3];
};

/// Origins and directions (length 1) in the same coordinates; least: minimum distance along the
/// ray.
struct tile_rays {
  double from[3][tile_pixels], direction[3][tile_pixels];
  double least;
};

struct work_counts {
  std::uint64_t cells = 0;     ///< cells passed through, without skipped blocks
  std::uint64_t segments = 0;  ///< parts that were integrated
};

/// The gain of a tile's rays, and their state between slabs. A ray's numbers depend neither on the
/// other rays of its packet nor on how the grid is cut: a ray is handed on at the plane where it
/// leaves a slab.
struct tile_state {
  float color[3][tile_pixels], transparency[tile_pixels];  ///< colour premultiplied
  float t[tile_pixels];                                    ///< distances from the entry into the visible box
  float last[tile_pixels];                                 ///< the scalar there, for rays in `carried`
  std::int32_t cell[3][tile_pixels];
  std::uint32_t begun = 0;               ///< 0: the other members are not yet valid
  std::uint32_t alive = 0, carried = 0;  ///< one bit per ray
};

/// Advances the rays through the slices of this slab.
using kernel_function = void (*)(volume_view const&, tile_rays const&, tile_state&, work_counts&);

struct kernel {
  char const* name;
  kernel_function plain, lit;
};

namespace portable {
extern kernel const functions;
}
#if SKEL_VOLUME_HAVE_AVX2
namespace avx2 {
extern kernel const functions;
}
#endif
#if SKEL_VOLUME_HAVE_AVX512
namespace avx512 {
extern kernel const functions;
}
namespace avx512_gather {  // loads scattered values with gathers instead of lane by lane
extern kernel const functions;
}
#endif

/// All kernels of this program that run on this processor, the best first, `portable` last.
[[nodiscard]] std::vector<kernel const*> const& kernels();
/// Returns the kernel of this name, or nullptr if it is not available: `avx512`, `avx512-gather`,
/// `avx2`, `portable`.
[[nodiscard]] kernel const* find_kernel(std::string_view name);

}  // namespace volume
