// Errors stay one line, whatever they quote.
#pragma once

#include <string>
#include <string_view>

namespace skel::detail {

/// Line ends and tabs become blanks, other control characters \xNN, and more than 1000 bytes are cut. Hostile
/// input that a message quotes must not write to the user's terminal.
std::string one_line(std::string_view text);

}  // namespace skel::detail
