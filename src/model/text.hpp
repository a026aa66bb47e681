// Reads text of unknown origin: whole files and numbers. Errors name the position.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skel::model {

/// Returns the whole file, without a byte order mark. Throws usage_error if it cannot be read or exceeds 1
/// GiB (e.g. an endless device).
[[nodiscard]] std::string read_text(std::string const& path);

/// Returns the number if the whole text is a finite number, otherwise nothing.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

/// Quotes and shortens a text for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Throws usage_error `file:line: what`, reduced to one printable line.
[[noreturn]] void fail_at(std::string const& file, std::size_t line, std::string const& what);

}  // namespace skel::model
