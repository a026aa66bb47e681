// N queens: placements row by row, as bit masks of the attacked columns and diagonals.
#pragma once

#include <bit>
#include <cstdint>

namespace search {

inline constexpr unsigned most_queens = 24;

struct placement {
  std::uint32_t columns = 0;
  std::uint32_t left = 0;  // diagonals, shifted by one per row
  std::uint32_t right = 0;
  std::uint32_t row = 0;
};

[[nodiscard]] inline std::uint32_t free_columns(placement const& p, unsigned n) {
  return ~(p.columns | p.left | p.right) & ((std::uint32_t{1} << n) - 1);
}
[[nodiscard]] inline placement place(placement const& p, std::uint32_t column) {
  return {p.columns | column, (p.left | column) << 1, (p.right | column) >> 1, p.row + 1};
}

/// Counts the solutions below a placement, without spawning tasks.
[[nodiscard]] std::uint64_t count_queens(placement const& p, unsigned n);
/// Counts by another method, plain backtracking over an array of columns, for --verify.
[[nodiscard]] std::uint64_t count_queens_slowly(unsigned n);

}  // namespace search
