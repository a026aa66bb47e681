// Whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skel::detail {

/// Returns the bytes of the file, or of a larger one its first `most` + 1 bytes. Returns nothing, and sets
/// errno, if it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(std::string const& path, std::size_t most = SIZE_MAX - 1);

}  // namespace skel::detail
