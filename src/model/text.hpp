// Reads text of unknown origin: whole files and numbers. Errors name the position. Texts of warnings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skel/model/fit.hpp"

namespace skel::model {

/// Returns the whole file, without a byte order mark. Throws usage_error if it cannot be read or exceeds 1
/// GiB (e.g. an endless device).
[[nodiscard]] std::string read_text(std::string const& path);

/// Returns the number if the whole text is a finite number, otherwise nothing.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

/// Quotes and shortens a text for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Says of each size outside of the samples that what depends on it is extrapolated.
[[nodiscard]] std::vector<std::string> extrapolations(fitted const& f, std::string const& what,
                                                      point const& at);

/// Throws usage_error `file:line: what`, reduced to one printable line.
[[noreturn]] void fail_at(std::string const& file, std::size_t line, std::string const& what);

}  // namespace skel::model
