// A wind field like those that StormView was made for [Storm95, §2.1]: LAM50S over Europe.
#pragma once

#include <cstddef>
#include <vector>

namespace volume_data {

/// Horizontal wind speed in m/s; x and y in km (0 to 6000, 0 to 4800), z in km above the ground. By the hour
/// both lows go east, the young one deepens, and the jet stream's waves follow.
[[nodiscard]] double storm_wind_speed(double x, double y, double z, double hours);
/// x and y evenly; z on uneven levels from 0 to 16 km, dense near the ground as those of weather models.
[[nodiscard]] std::vector<double> storm_coordinates(std::size_t axis, std::size_t points);

}  // namespace volume_data
