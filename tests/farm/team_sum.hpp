// A task that a team of any size runs together, with the same result.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "skel/bsp.hpp"
#include "skel/detail/task_range.hpp"

namespace farm_test {

inline std::uint64_t term(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15U; }

// Every rank of the team sums its share of term(first) to term(first + 9), and sends it to the team's root.
struct circle {
  std::uint64_t first;
  using state = std::uint64_t;
  using message = std::uint64_t;
  state begin(int rank, int size) const {
    std::uint64_t mine = 0;
    for (int k = rank; k < 10; k += size) mine += term(first + static_cast<std::uint64_t>(k));
    return mine;
  }
  bool step(state& mine, skel::superstep<message>& now) const {
    for (auto const& l : now.received()) mine += l.content;
    if (now.number() == 1) return false;
    if (now.rank() != 0) now.send(0, mine);
    return true;
  }
};

inline std::uint64_t together(skel::context& team, std::uint64_t i) {
  return skel::bsp(team, circle{i}).value;
}

inline std::vector<std::uint64_t> expected_sums(std::uint64_t n) {
  std::vector<std::uint64_t> all(n, 0);
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t k = 0; k < 10; ++k) all[i] += term(i + k);
  return all;
}

inline int mixed_size(skel::task_id i) { return std::array{1, 2, 4, 3}[i % 4]; }

}  // namespace farm_test
