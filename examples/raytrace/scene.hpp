// The content of an NFF file (Haines, "A Proposal for Standard Graphics Environments", IEEE CG&A
// 7(11), 1987): the scene as a plain value, in the order of the file, not yet prepared for tracing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "skel/error.hpp"
#include "vec3.hpp"

namespace raytrace {

/// Thrown if a scene cannot be read, made or rendered. what() is `place: what is wrong, what was
/// expected`.
class scene_error : public skel::usage_error {
 public:
  using skel::usage_error::usage_error;
};

/// NFF `v`. Lengths are in the scene's units.
struct view {
  vec3d from, at, up;
  double angle = 45;  ///< degrees, from the centres of the first row's pixels to those of the last row
  double hither = 0;  ///< distance of the near plane; kept for writing, not used for clipping
  int width = 512, height = 512;
};

/// Why no picture can be made from there; empty: one can.
std::string problem_of(view const& v);

/// NFF `l`. A light without a colour is white with the intensity default_intensity().
struct light {
  vec3d position;
  std::optional<vec3d> color;
};

/// NFF `f`.
struct material {
  vec3d color;
  double diffuse = 1;        ///< Kd
  double specular = 0;       ///< Ks: weight of highlight and reflected ray
  double shine = 0;          ///< Phong exponent
  double transmittance = 0;  ///< T: weight of the refracted ray
  double refraction = 1;     ///< index of refraction, relative to the outside
};

/// NFF `s`. With a negative radius the surface faces inwards (its inside counts as outside for
/// refraction).
struct sphere {
  vec3d center;
  double radius = 1;
};

/// NFF `c`: a cylinder, cone or frustum without caps. With two negative radii it faces inwards.
struct cone {
  vec3d base;
  double base_radius = 1;
  vec3d apex;
  double apex_radius = 1;
};

/// NFF `p` and `pp`: `vertices` entries of scene::vertices from `first` on; for a patch, also
/// entries of scene::normals from `first_normal` on. May be concave.
struct polygon {
  static constexpr std::uint32_t flat = ~std::uint32_t{0};
  std::uint32_t first = 0, vertices = 0, first_normal = flat;
};

enum class shape : std::uint8_t { sphere, cone, polygon };

/// The n-th primitive of a scene; accelerators break ties by its number.
struct primitive {
  shape kind{};
  std::uint32_t index = 0;     ///< into scene::spheres, cones or polygons
  std::uint32_t material = 0;  ///< into scene::materials
};

struct scene {
  std::string name;
  raytrace::view view;
  vec3d background;
  std::vector<light> lights;
  std::vector<material> materials;
  std::vector<primitive> primitives;
  std::vector<sphere> spheres;
  std::vector<cone> cones;
  std::vector<polygon> polygons;
  std::vector<vec3d> vertices;
  std::vector<vec3d> normals;

  void add_material(material const& m) { materials.push_back(m); }
  void add(sphere const& s);  ///< uses the material added last
  void add(cone const& c);
  void add_polygon(std::vector<vec3d> const& corners, std::vector<vec3d> const& corner_normals = {});
};

/// SPD's rule for L lights without a colour: sqrt(L) / (2 L) each, so that many lights do not
/// overexpose the picture.
double default_intensity(std::size_t lights);

}  // namespace raytrace
