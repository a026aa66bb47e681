// The catalogue of a generation: its writer, its parts, and the places of their shards. Stored as
// an object of its own, in copies. The shards' headers contain the same information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skel/storage/generation.hpp"

namespace skel::storage {

inline constexpr std::uint32_t manifest_schema = 1;
inline constexpr std::size_t longest_manifest = std::size_t{1} << 28U;

struct manifest {
  struct part {
    std::string name;
    std::uint64_t bytes = 0;
    hash128 hash{};
    std::vector<std::string> shards;  ///< paths, by index; empty: missing when the manifest was written

    friend bool operator==(part const&, part const&) = default;
  };
  storage::identity identity;
  generation_plan plan;
  std::vector<part> parts;
  std::optional<run_history> history{};

  friend bool operator==(manifest const&, manifest const&) = default;

  /// Returns human-readable JSON.
  [[nodiscard]] std::string encode() const;
  /// Throws skel::error that describes the defect.
  [[nodiscard]] static manifest decode(std::string_view text);
};

}  // namespace skel::storage
