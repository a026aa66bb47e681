// Command lines and words, quoted as for /bin/sh.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skel::commands {

/// The words of a line that the shell would run as one plain command: without variables, patterns,
/// redirections, pipes and assignments. Quotes and backslashes mean what they mean to the shell. Nothing if
/// the line needs a shell; no words for a blank line.
[[nodiscard]] std::optional<std::vector<std::string>> plain_words(std::string_view line);

/// The word as the shell reads it back; itself where no quotes are needed.
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// The line from which plain_words() reads these words.
[[nodiscard]] std::string line_of(std::span<std::string const> words);

}  // namespace skel::commands
