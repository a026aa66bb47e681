#include "storm.hpp"

#include <cmath>
#include <numbers>

#include "noise.hpp"

namespace volume_data {

namespace {

constexpr double width = 6000, depth = 4800, top = 16;  // km

struct vec2 {
  double x, y;
};

double bell(double x) { return std::exp(-x * x); }

/// Wind around a low: the vortex of Lamb and Oseen with spiral bands, weaker with height.
vec2 cyclone(double x, double y, double z, vec2 centre, double radius, double strongest, double turns) {
  double const dx = x - centre.x, dy = y - centre.y;
  double const r = std::sqrt(dx * dx + dy * dy) / radius + 1e-9;
  double const profile = 1.397 * (1 - std::exp(-1.2564 * r * r)) / r;  // 1 at r = 1
  double const arms =
      1 + 0.42 * std::cos(2 * std::atan2(dy, dx) + turns * std::log(r + 0.15)) * bell((r - 1.7) / 1.6);
  double const outside = 1 / (1 + std::pow(r / 3.2, 4));
  double const speed = strongest * profile * arms * outside * bell(z / 9.5);
  return {-dy / (r * radius) * speed, dx / (r * radius) * speed};
}

/// The jet stream: a band at 10 km that meanders around the low.
vec2 jet(double x, double y, double z, double east) {
  double const phase = 2 * std::numbers::pi * ((x - east) / width - 0.08);
  double const middle = 2650 + 760 * std::sin(phase * 1.25) + 130 * std::sin(3.1 * phase + 0.7);
  double const slope = (760 * 1.25 * std::cos(phase * 1.25) + 130 * 3.1 * std::cos(3.1 * phase + 0.7)) * 2 *
                       std::numbers::pi / width;
  double const streak = 0.72 + 0.28 * std::cos(phase - 2.2);  // strongest over one region
  double const across = (y - middle) / std::sqrt(1 + slope * slope);
  double const speed = 62 * streak * bell(across / 310) * bell((z - 10) / 2.9);
  double const length = std::sqrt(1 + slope * slope);
  return {speed / length, speed * slope / length};
}

}  // namespace

double storm_wind_speed(double x, double y, double z, double hours) {
  auto const low = cyclone(x, y, z, {2450 + 30 * hours, 1800 + 9 * hours}, 400, 52, 6);
  auto const young =
      cyclone(x, y, z, {4750 + 22 * hours, 3250 + 14 * hours}, 260, 38 + 20 * hours / (24 + hours), 5);
  auto const stream = jet(x, y, z, 14 * hours);
  double const ground = 1 - 0.45 * std::exp(-z / 0.6);  // friction
  double const drifted = (x - 25 * hours) / 420;
  double const gusts = 6 * (fractal_noise(drifted, y / 420, z / 3, 4, 11) - 0.5);
  double const u = ground * (low.x + young.x) + stream.x + 5 + gusts;
  double const v =
      ground * (low.y + young.y) + stream.y + 6 * (fractal_noise(drifted, y / 420, z / 3, 4, 23) - 0.5);
  return std::sqrt(u * u + v * v);
}

std::vector<double> storm_coordinates(std::size_t axis, std::size_t points) {
  std::vector<double> to(points);
  for (std::size_t i = 0; i < points; ++i) {
    double const t = static_cast<double>(i) / static_cast<double>(points - 1);
    to[i] = axis == 0 ? width * t : axis == 1 ? depth * t : top * (0.25 * t + 0.75 * t * t);
  }
  return to;
}

}  // namespace volume_data
