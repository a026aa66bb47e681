// Durations as people write them: 90, 90s, 1.5m, 2h.
#pragma once

#include <chrono>
#include <string_view>

namespace skel::detail {

/// Seconds where no unit is given; ms, s, m (minutes), h. Positive and finite, else a usage_error that quotes
/// `text`.
std::chrono::duration<double> parse_duration(std::string_view text);

}  // namespace skel::detail
