// A wind field like those that StormView rendered [Storm95, §2.1]: LAM50S over Europe.
#pragma once

#include <cstddef>
#include <vector>

namespace volume_data {

/// Horizontal wind speed in m/s; x and y in km (0 to 6000, 0 to 4800), z in km above the ground.
/// Over the hours both lows move east, the young one deepens, and the waves of the jet stream
/// follow.
[[nodiscard]] double storm_wind_speed(double x, double y, double z, double hours);
/// Coordinates: x and y evenly spaced; z on levels from 0 to 16 km that are denser near the ground,
/// as in weather models.
[[nodiscard]] std::vector<double> storm_coordinates(std::size_t axis, std::size_t points);

}  // namespace volume_data
