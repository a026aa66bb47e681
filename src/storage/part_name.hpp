// File names of parts' shards, see shard_header::file_name(). The files' contents are
// authoritative; names identify files that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skel::storage {

struct part_name {
  std::string object{};  ///< its name
  std::uint64_t generation = 0;
  bool temporary = false;  ///< being written, or left by a dead writer

  /// Returns nothing for the names of other files.
  [[nodiscard]] static std::optional<part_name> parse(std::string_view file_name);
};

/// The name of an empty file that counts a run which resumed from a generation.
struct attempt_name {
  std::uint64_t generation = 0, stamp = 0, number = 0;  ///< number counts from 1

  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] static std::optional<attempt_name> parse(std::string_view file_name);
};

}  // namespace skel::storage
