// Computed volumes, read slice by slice like files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "volume_reader.hpp"

namespace volume_data {

/// Opens "NAME" or "NAME:AxBxC", with the numbers of grid points along x, y, z. A field that
/// changes with time, which only wind does, may be followed by "@HOURS" (0 to 240, default 0):
///
///   wind            horizontal wind speed in m/s of a storm under a jet stream, on 121 x 97 x 18 points as
///                   StormView's LAM50S: 50 km apart, on uneven levels up to 16 km (coordinates in km)
///   homogeneous     1 everywhere
///   linear          (x + 2 y + 4 z) / 7, from 0 to 1 on the unit cube; interpolation reproduces it exactly
///   marschner-lobb  the test signal of Marschner and Lobb (1994), f_M = 6, alpha = 0.25
///   metaballs       eight Gaussian balls
///   turbulence      five octaves of noise
///   sphere          the distance from the centre, on [-1, 1]^3
///
/// Values are float32. Throws a usage_error that lists the names.
[[nodiscard]] std::unique_ptr<volume_reader> open_field(std::string_view what);

}  // namespace volume_data
