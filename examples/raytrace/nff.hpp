// The Neutral File Format, the text format of the Standard Procedural Databases (SPD 3.x, NFF.txt).
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "scene.hpp"

namespace raytrace {

/// Parses a complete NFF text: v b l f s c p pp #. Memory is proportional to the text. Throws
/// scene_error `name:12: polygon needs 3 vertices, found "2"`; `name` also becomes the scene's name.
scene parse_nff(std::string_view text, std::string const& name);

/// Parses the content of a file. Throws usage_error `path: reason` if it cannot be read.
scene read_nff(std::string const& path);

/// Writes a scene in the style of SPD's programs, with `digits` significant digits in printf's %g
/// (17 is lossless).
void write_nff(std::ostream& out, scene const& world, int digits = 6);

}  // namespace raytrace
