// Keeps error messages on one line, whatever they quote.
#pragma once

#include <string>
#include <string_view>

namespace skel::detail {

/// Replaces line ends and tabs by blanks, and other control characters by \xNN; cuts the text after
/// 1000 bytes. Hostile input quoted in a message must not control the user's terminal.
std::string one_line(std::string_view text);

}  // namespace skel::detail
