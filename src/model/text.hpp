// Reading text that others wrote: whole files, numbers, and errors that say where.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skel::model {

/// The whole file; usage_error if it cannot be read or is larger than a gigabyte (a device that never ends).
[[nodiscard]] std::string read_text(std::string const& path);

/// A finite number that is the whole text, or nothing.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

/// In quotes and cut, for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// usage_error `file:line: what`, one printable line.
[[noreturn]] void fail_at(std::string const& file, std::size_t line, std::string const& what);

}  // namespace skel::model
