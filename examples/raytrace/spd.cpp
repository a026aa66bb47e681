#include "spd.hpp"

#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

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
    auto const [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), size);
    if (error != std::errc()) unknown(specification);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
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
