#include "noise.hpp"

#include <cmath>

namespace volume_data {

namespace {

double at_lattice(std::int64_t x, std::int64_t y, std::int64_t z, std::uint32_t seed) {
  auto h = static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15U ^
           static_cast<std::uint64_t>(y) * 0xc2b2ae3d27d4eb4fU ^
           static_cast<std::uint64_t>(z) * 0x165667b19e3779f9U ^ (std::uint64_t{seed} << 32U);
  h = (h ^ (h >> 30U)) * 0xbf58476d1ce4e5b9U;  // splitmix64's finaliser
  h = (h ^ (h >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((h ^ (h >> 31U)) >> 11U) * 0x1p-53;
}

double smooth(double t) { return t * t * t * (10 + t * (6 * t - 15)); }
double mix(double a, double b, double t) { return a + t * (b - a); }

}  // namespace

double value_noise(double x, double y, double z, std::uint32_t seed) {
  double const fx = std::floor(x), fy = std::floor(y), fz = std::floor(z);
  auto const i = static_cast<std::int64_t>(fx), j = static_cast<std::int64_t>(fy),
             k = static_cast<std::int64_t>(fz);
  double const u = smooth(x - fx), v = smooth(y - fy), w = smooth(z - fz);
  auto const row = [&](std::int64_t dj, std::int64_t dk) {
    return mix(at_lattice(i, j + dj, k + dk, seed), at_lattice(i + 1, j + dj, k + dk, seed), u);
  };
  return mix(mix(row(0, 0), row(1, 0), v), mix(row(0, 1), row(1, 1), v), w);
}

double fractal_noise(double x, double y, double z, int octaves, std::uint32_t seed) {
  double sum = 0;
  double weight = 1;
  double weights = 0;
  for (int o = 0; o < octaves; ++o) {
    sum += weight * value_noise(x, y, z, seed + static_cast<std::uint32_t>(o));
    weights += weight;
    weight *= 0.5;
    x *= 2;
    y *= 2;
    z *= 2;
  }
  return sum / weights;
}

}  // namespace volume_data
