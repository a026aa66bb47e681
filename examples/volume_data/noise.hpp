// Value noise: smooth, the same on every machine, defined everywhere.
#pragma once

#include <cstdint>

namespace volume_data {

/// Value in [0, 1]; twice differentiable; varies over lengths of about 1.
[[nodiscard]] double value_noise(double x, double y, double z, std::uint32_t seed);
/// Octaves of it, each of half the size and weight: "turbulence", in [0, 1].
[[nodiscard]] double fractal_noise(double x, double y, double z, int octaves, std::uint32_t seed);

}  // namespace volume_data
