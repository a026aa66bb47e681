// The code that integrates along rays, compiled once per instruction set and chosen when the program runs, as
// the ray tracer's (raytrace/kernel.hpp): kernel_*.cpp define SKEL_VOLUME_TARGET and include kernel.inl.
// Nothing in the
// *.inl files is a function of the standard library or an inline function that could exist out of line. All
// instruction sets do the same operations in the same order without contraction: the same bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volume {

/// A tile of pixels is what a kernel is given. All kernels have the same, since ranks with different
/// processors share a picture; each takes its rays through in packets of as many as it has lanes, eight
/// or sixteen.
inline constexpr int tile_width = 4, tile_height = 4, tile_pixels = 16;

/// A packet's data about one cell along one axis; lengths from the grid's lowest corner, stretched.
struct axis_cell {
  float low, inverse_width;
  float up, down;  ///< the plane that a rising, a falling ray leaves through; infinite at the grid's border
};

/// Columns of the table of pieces: a mapping_piece (mapping.hpp).
enum column : int { lower, upper, knot, k0, k1, c0, c1 = c0 + 3, columns = c1 + 3 };

/// Pieces of the mapping in groups of eight, the last one padded; in a group, column after column.
struct pieces_view {
  int count, groups;
  float const* table;
};

/// How far away the nearest visible block is, per cell: visible_cell: the cell itself has extinction; 0: its
/// block has; d: no block less than d away (along any axis) has.
inline constexpr std::uint8_t visible_cell = 255;
inline constexpr int block_shift = 2;  ///< blocks of 4 x 4 x 4 cells

struct volume_view {
  float const* values;          ///< scaled, at grid points, x fastest
  std::uint8_t const* cells;    ///< indexed as the grid point at the cell's lowest corner
  std::uint8_t const* visible;  ///< a bit for each of them, eight to a byte: whether it is a visible_cell
  float const* gradients;       ///< four floats per grid point, the last unused; nullptr without light
  axis_cell const* axes;        ///< of x, then y, then z
  int cell_count[3], first_cell[3];
  int stride[3];                  ///< of grid points
  int first_slice, end_slice;     ///< cells along z that are here; values, cells and gradients begin there
  float box_low[3], box_high[3];  ///< around all visible cells; empty if box_low[0] > box_high[0]
  int const* finders[3];          ///< cells along each axis, by position: see find
  float find_scale[3];
  int find_count[3];
  pieces_view pieces;
  float tolerance;           ///< scaled
  float least_transparency;  ///< where a ray ends
  float light[3];            ///< direction towards it
  bool light_from_eye;
  float ambient, diffuse, specular;
  int shininess;
  int light_samples;  ///< least number of parts of a cell where there is light, at most 16
  float fog_density, fog[3];
};

/// Origins and directions (length 1), in the same coordinates; least: no nearer than this.
struct tile_rays {
  double from[3][tile_pixels], direction[3][tile_pixels];
  double least;
};

struct work_counts {
  std::uint64_t cells = 0;     ///< that rays passed through, without those in skipped blocks
  std::uint64_t segments = 0;  ///< that were integrated
};

/// The gain of a tile's rays, and where they go on if the grid comes in slabs. A ray's numbers do
/// not depend on the others of its packet, nor on how the grid is cut: it is handed on at the plane
/// where it leaves a slab.
struct tile_state {
  float color[3][tile_pixels], transparency[tile_pixels];  ///< colour premultiplied
  float t[tile_pixels];     ///< distances from where the rays entered the visible box
  float last[tile_pixels];  ///< the scalar there, of the rays in `carried`
  std::int32_t cell[3][tile_pixels];
  std::uint32_t begun = 0;               ///< 0: nothing of this says anything yet
  std::uint32_t alive = 0, carried = 0;  ///< a bit for each ray
};

/// Takes the rays through the slices that are here.
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
namespace avx512_gather {  // what lies apart in memory comes by gathers, not lane after lane
extern kernel const functions;
}
#endif

/// All that this program and this processor have, the best one first, `portable` last.
[[nodiscard]] std::vector<kernel const*> const& kernels();
/// One of them by name, nullptr if it is not there: `avx512`, `avx512-gather`, `avx2`, `portable`.
[[nodiscard]] kernel const* find_kernel(std::string_view name);

}  // namespace volume
