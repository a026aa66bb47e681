#include "queens.hpp"

#include <cstdlib>
#include <vector>

namespace search {

std::uint64_t count_queens(placement const& p, unsigned n) {
  if (p.row == n) return 1;
  std::uint64_t found = 0;
  for (auto open = free_columns(p, n); open != 0; open &= open - 1)
    found += count_queens(place(p, open & -open), n);
  return found;
}

std::uint64_t count_queens_slowly(unsigned n) {
  std::vector<int> column(n, -1);  // column of the queen in each row
  std::uint64_t found = 0;
  int row = 0;
  auto const size = static_cast<int>(n);
  auto const attacked = [&] {
    auto const at = static_cast<std::size_t>(row);
    for (std::size_t r = 0; r < at; ++r)
      if (column[r] == column[at] || std::abs(column[r] - column[at]) == row - static_cast<int>(r))
        return true;
    return false;
  };
  while (row >= 0) {
    if (++column[static_cast<std::size_t>(row)] == size) {
      column[static_cast<std::size_t>(row--)] = -1;
    } else if (!attacked()) {
      if (row + 1 == size)
        ++found;
      else
        ++row;
    }
  }
  return found;
}

}  // namespace search
