// Durations in a readable notation: 90, 90s, 1.5m, 2h.
#pragma once

#include <chrono>
#include <string_view>

namespace skel::detail {

/// Parses a positive, finite duration in ms, s, m (minutes) or h; seconds if there is no unit.
/// Throws usage_error, which quotes `text`.
std::chrono::duration<double> parse_duration(std::string_view text);

}  // namespace skel::detail
