#pragma once

namespace volume_data {

/// White space of the C locale, independent of the current locale. -1, the end of a file, is not
/// white space.
constexpr bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace volume_data
