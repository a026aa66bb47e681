// File names of parts' shards, see shard_header::file_name(). What counts stands in the files; their names
// tell of files that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skel::storage {

struct part_name {
  std::uint64_t generation = 0;
  bool temporary = false;  ///< a writer was at it, or is

  /// Empty where it is another file's.
  [[nodiscard]] static std::optional<part_name> parse(std::string_view file_name);
};

/// Empty files that count the runs which have gone on from a generation.
struct attempt_name {
  std::uint64_t generation = 0, stamp = 0, number = 0;  ///< the first has number 1

  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] static std::optional<attempt_name> parse(std::string_view file_name);
};

}  // namespace skel::storage
