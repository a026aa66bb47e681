// The catalogue of one generation: who wrote it, what its parts are, and where their shards lie. Stored as an
// object of its own, in copies; what it says can be found from the shards' headers too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
    std::vector<std::string> shards;  ///< paths, by index; empty: missing when it was written

    friend bool operator==(part const&, part const&) = default;
  };
  storage::identity identity;
  generation_plan plan;
  std::vector<part> parts;

  friend bool operator==(manifest const&, manifest const&) = default;

  /// JSON, for people to read as well.
  [[nodiscard]] std::string encode() const;
  /// skel::error that says what is wrong.
  [[nodiscard]] static manifest decode(std::string_view text);
};

}  // namespace skel::storage
