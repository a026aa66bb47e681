#include "camera.hpp"

#include <cmath>
#include <numbers>

#include "skel/error.hpp"

namespace volume {

namespace {

constexpr double degree = std::numbers::pi / 180;

/// Returns a direction that is not parallel to `a`.
vec3 beside(vec3 const& a) { return std::abs(a[0]) < 0.9 ? vec3{1, 0, 0} : vec3{0, 1, 0}; }

vec3 turned(vec3 const& a, vec3 const& axis, double angle) {  // Rodrigues
  double const c = std::cos(angle), s = std::sin(angle);
  return add(add(vec3{c * a[0], c * a[1], c * a[2]}, s, cross(axis, a)), (1 - c) * dot(axis, a), axis);
}

vec3 eye_of(view_spec const& v, vec3 const& at, vec3 const& low, vec3 const& stretch, vec3 const& up,
            double diagonal) {
  if (v.from) {
    vec3 eye{};
    for (std::size_t i = 0; i < 3; ++i) eye[i] = (*v.from)[i] * stretch[i] - low[i];
    return eye;
  }
  // azimuth 0 lies east of the middle if `up` is z
  vec3 const east = normalized(cross(std::abs(up[1]) < 0.9 ? vec3{0, 1, 0} : vec3{0, 0, 1}, up));
  vec3 const north = cross(up, east);
  double const a = v.azimuth * degree, e = v.elevation * degree, d = v.distance * diagonal;
  vec3 eye = add(at, d * std::cos(e) * std::cos(a), east);
  eye = add(eye, d * std::cos(e) * std::sin(a), north);
  return add(eye, d * std::sin(e), up);
}

}  // namespace

vec3 normalized(vec3 const& a) {
  double const length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}

camera make_camera(specification const& spec, vec3 const& low, vec3 const& sides, int width, int height,
                   double turn) {
  auto const& v = spec.view;
  double const diagonal = std::sqrt(dot(sides, sides));
  vec3 at{sides[0] / 2, sides[1] / 2, sides[2] / 2};
  if (v.at)
    for (std::size_t i = 0; i < 3; ++i) at[i] = (*v.at)[i] * spec.stretch[i] - low[i];
  vec3 const up = normalized(v.up);
  vec3 eye = eye_of(v, at, low, spec.stretch, up, diagonal);
  if (turn != 0) eye = add(at, 1, turned(add(eye, -1, at), up, turn * degree));

  camera c;
  c.width = width;
  c.height = height;
  c.parallel = v.parallel;
  c.eye = eye;
  vec3 const ahead = add(at, -1, eye);
  if (!(dot(ahead, ahead) > 0))
    throw skel::usage_error("view: expected two different points \"from\" and \"at\"");
  c.forward = normalized(ahead);
  vec3 right = cross(c.forward, up);
  if (dot(right, right) < 1e-18) {  // looking straight down or up: north is at the top
    vec3 const north = std::abs(up[1]) < 0.9 ? vec3{0, 1, 0} : beside(up);
    right = cross(c.forward, turned(north, up, turn * degree));
  }
  right = normalized(right);
  double const pixel =
      (v.parallel ? v.height.value_or(diagonal) : 2 * std::tan(v.angle * degree / 2)) / height;
  vec3 const down = cross(c.forward, right);
  for (std::size_t i = 0; i < 3; ++i) {
    c.right[i] = right[i] * pixel;
    c.down[i] = down[i] * pixel;
  }
  return c;
}

camera::ray camera::through(double x, double y) const {
  double const fx = x - 0.5 * width, fy = y - 0.5 * height;
  if (parallel) return {add(add(eye, fx, right), fy, down), forward};
  return {eye, normalized(add(add(forward, fx, right), fy, down))};
}

bool camera::project(vec3 const& point, double& x, double& y) const {
  vec3 const d = add(point, -1, eye);
  double const depth = parallel ? 1 : dot(d, forward);
  if (!(depth > 1e-12)) return false;
  x = 0.5 * width + dot(d, right) / (dot(right, right) * depth);
  y = 0.5 * height + dot(d, down) / (dot(down, down) * depth);
  return true;
}

}  // namespace volume
