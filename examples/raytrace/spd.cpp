#include "spd.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "program/text.hpp"

namespace raytrace {

namespace {

[[noreturn]] void unknown(std::string_view specification) {
  throw scene_error("unknown scene \"" + std::string(specification) +
                    "\"; known: balls[:SIZE], gears[:SIZE][,ks=0.2], tetra[:SIZE]");
}

int checked_size(std::string_view name, int size, int low, int high) {
  if (size >= low && size <= high) return size;
  throw scene_error(std::string(name) + " needs a size of " + std::to_string(low) + " to " +
                    std::to_string(high) + ", found \"" + std::to_string(size) + "\"");
}

}  // namespace

scene make_spd(std::string_view specification) {
  auto rest = specification;
  auto const name = rest.substr(0, rest.find_first_of(":,"));
  rest.remove_prefix(name.size());
  int size = name == "tetra" ? 6 : 4;
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    auto const given = skel::program::take_number<int>(rest);
    if (!given) unknown(specification);
    size = *given;
  }
  auto material = gears_material::nff;
  if (name == "gears" && rest == ",ks=0.2") {
    material = gears_material::published;
    rest = {};
  }
  if (!rest.empty()) unknown(specification);
  scene made;
  if (name == "balls") {
    made = make_balls(checked_size(name, size, 0, 8));
  } else if (name == "gears") {
    made = make_gears(checked_size(name, size, 1, 40), material);
  } else if (name == "tetra") {
    made = make_tetra(checked_size(name, size, 1, 12));
  } else {
    unknown(specification);
  }
  made.name = specification;
  return made;
}

view biased(view const& balanced) {
  auto const sight = balanced.at - balanced.from;
  auto const side = normalized(cross(sight, balanced.up));
  auto const upwards = normalized(cross(side, sight));
  double const half = std::tan(balanced.angle * std::numbers::pi / 360);
  view v = balanced;
  v.at = balanced.at + 0.7 * half * length(sight) * upwards;
  return v;
}

}  // namespace raytrace
