// The rendering-specification object [Storm95, §2.1]: everything but the grid. docs/reference/volume.md
// documents its JSON; examples/volume/specs has an example of each feature.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volume {

using vec3 = std::array<double, 3>;
using rgb = std::array<float, 3>;  ///< 0 to 1

struct view_spec {
  bool parallel = false;
  std::optional<vec3> from;  ///< eye; default: computed from azimuth, elevation and distance
  std::optional<vec3> at;    ///< point looked at; default: the middle of the grid
  vec3 up{0, 0, 1};
  double azimuth = -60;          ///< degrees around `up`
  double elevation = 35;         ///< degrees above the horizon
  double distance = 1.6;         ///< from `at`, in diagonals of the stretched grid
  double angle = 36;             ///< degrees from the top of the picture to its bottom (perspective)
  std::optional<double> height;  ///< visible height (parallel); default: the stretched grid's diagonal
};

struct mapping_spec {
  struct color_knot {
    double value;
    rgb color;
  };
  struct opacity_knot {
    double value;
    double extinction;  ///< per unit of length: a layer of d units transmits exp(-extinction d)
  };
  std::vector<color_knot> color;      ///< values must not decrease; two equal ones form a jump
  std::vector<opacity_knot> opacity;  ///< likewise
  std::optional<double> unit;         ///< of length, stretched; default: a hundredth of the grid's diagonal
  bool relative = false;              ///< values are shares of the range of the data
};

struct light_spec {
  std::optional<vec3> direction;  ///< towards the light; default: from the eye
  double ambient = 0.35, diffuse = 0.65, specular = 0.2;
  int shininess = 16;
  int samples = 4;  ///< minimum per cell on a ray; 1 to 16
};

struct attenuation_spec {
  double density =
      0;        ///< per diagonal of the stretched grid: at distance d, exp(-density d) of the colour remains
  rgb color{};  ///< the rest of the colour
};

enum class rule : unsigned char {
  exact,     ///< mapping knots split the cell, opacity 1 - exp(-extinction length)
  trapezoid  ///< the composite trapezoid rule of [Storm95], refined to the tolerance
};

struct background_spec {
  enum class kind : unsigned char { none, color, image, map } what = kind::color;
  rgb color{0, 0, 0};
  std::string image;  ///< a PNG file
};

struct specification {
  view_spec view;
  vec3 stretch{1, 1, 1};  ///< factors of the grid's coordinates, e.g. to enlarge the height of weather data
  mapping_spec mapping;   ///< empty: colours over the range of the data
  std::optional<light_spec> light;
  attenuation_spec attenuation;
  double visibility_limit = 0.998;  ///< accumulated opacity at which a ray ends
  volume::rule rule = volume::rule::exact;
  double tolerance = 1e-3;  ///< share of the mapping's range (exact), of colour and opacity (trapezoid)
  background_spec background;
  std::optional<rgb> frame;  ///< colour of the box around the grid
  int width = 500, height = 500;
};

/// The keys of a specification.
inline constexpr std::array<std::string_view, 11> specification_keys = {
    "view", "stretch",   "mapping",    "light", "attenuation", "visibility_limit",
    "rule", "tolerance", "background", "frame", "size"};

/// Parses JSON. Throws usage_error `place: view: ...: expected ...` if the specification is
/// invalid.
[[nodiscard]] specification parse_specification(std::string_view text, std::string const& place);
/// Reads a file. The path of a background's image is relative to it.
[[nodiscard]] specification read_specification(std::string const& path);
/// Parses a background: a FILE.png, "map", "none" or #rrggbb. Throws usage_error `place: expected
/// ...`.
[[nodiscard]] background_spec background_named(std::string const& text, std::string const& place);
/// The storm's specification, equal to specs/storm.json.
[[nodiscard]] std::string_view storm_specification();

}  // namespace volume
