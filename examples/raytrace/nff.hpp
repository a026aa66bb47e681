// Neutral File Format, the text format of the Standard Procedural Databases (SPD 3.x, NFF.txt).
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "scene.hpp"

namespace raytrace {

/// Reads a whole NFF text: v b l f s c p pp #. Never allocates more than in proportion to the text.
/// Errors: scene_error `name:12: polygon needs 3 vertices, got "2"`; `name` also becomes the scene's name.
scene parse_nff(std::string_view text, std::string const& name);

/// parse_nff of a file's content; scene_error `path: reason` if it cannot be read.
scene read_nff(std::string const& path);

/// Writes a scene as SPD's programs do: `digits` significant digits as of printf's %g (17 loses nothing).
void write_nff(std::ostream& out, scene const& world, int digits = 6);

}  // namespace raytrace
