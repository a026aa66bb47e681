#pragma once

namespace volume_data {

/// White space of the C locale, whatever the locale is. -1, the end of a file, is none.
constexpr bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace volume_data
