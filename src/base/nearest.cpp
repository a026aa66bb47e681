#include "nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace skel::detail {

namespace {

// The least number of letters to insert, delete, replace or exchange with a neighbour that turns a into b
// (optimal string alignment).
std::size_t distance(std::string const& a, std::string const& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string const& word, std::vector<std::string> const& names) {
  constexpr std::size_t longest_word = 40;
  if (word.empty() || word.size() > longest_word) return {};
  std::string best, begun;
  std::size_t least = word.size() / 3 + 1, beginnings = 0;
  for (auto const& name : names) {
    if (auto const d = distance(word, name); d < least) {
      least = d;
      best = name;
    }
    if (name.starts_with(word)) {
      ++beginnings;
      begun = name;
    }
  }
  if (best.empty() && beginnings == 1) best = begun;
  return best;
}

}  // namespace skel::detail
