// Consecutive ranks.
#pragma once

#include <cstddef>
#include <optional>

#include "role/outcome.hpp"

namespace skel::role {

/// The ranks first ... first + count - 1.
struct rank_range {
  rank_id first = 0;
  std::size_t count = 0;

  [[nodiscard]] rank_id operator[](std::size_t i) const { return first + static_cast<rank_id>(i); }
  /// The place of the rank in the range.
  [[nodiscard]] std::optional<std::size_t> index_of(rank_id rank) const {
    auto const at = static_cast<std::size_t>(rank - first);
    if (rank < first || at >= count) return std::nullopt;
    return at;
  }
  friend bool operator==(rank_range const&, rank_range const&) = default;
};

}  // namespace skel::role
