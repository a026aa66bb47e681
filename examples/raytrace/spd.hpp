// Generates three scenes of the Standard Procedural Databases (Haines 1987). They have the
// geometry, order, view, lights and fills that the SPD programs (version 3) print with `-r 1`.
#pragma once

#include <string_view>

#include "scene.hpp"

namespace raytrace {

/// SPD's NFF output gives the transmitting gears Ks = 0; its published ray counts belong to Ks =
/// 0.2.
/// 0.2.
enum class gears_material { nff, published };

/// The sphere flake: 1 + 9 + ... + 9^size spheres over a square. Size 0 to 8.
scene make_balls(int size);
/// size^3 gears, each two concave faces of 144 vertices and 144 rectangles, over a square. Size 1 to 40.
scene make_gears(int size, gears_material kind = gears_material::nff);
/// Sierpinski's pyramid: 4^size triangles. Size 1 to 12.
scene make_tetra(int size);

/// Parses `balls`, `balls:4`, `gears:4`, `gears:4,ks=0.2`, `tetra:6`; the default size is SPD's (4,
/// 4, 6). Throws a scene_error that names the specification and the known ones.
scene make_spd(std::string_view specification);

/// The second kind of view in [Lee97, §4.2]: the camera looks past the objects, so that they crowd
/// the lower side of the image and the cost of rows varies more.
view biased(view const& balanced);

}  // namespace raytrace
