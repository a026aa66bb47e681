// The work of both programs: cells on a ring of ranks. In a step, a rank sends its first cells to the rank
// before it and its last cells to the rank after it, and adds what it receives to its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock.hpp"

namespace halo_bench {

using halo = std::vector<std::uint64_t>;

struct cells {
  halo first, last;
};

inline cells beginning(int rank, std::size_t words) {
  cells c;
  for (std::size_t i = 0; i < words; ++i) {
    c.first.push_back(static_cast<std::uint64_t>(rank) * 1000 + i);
    c.last.push_back(c.first.back() + 7);
  }
  return c;
}

inline void add(cells& mine, std::uint64_t const* from_before, std::uint64_t const* from_after) {
  for (std::size_t i = 0; i < mine.first.size(); ++i) {
    auto const sum = from_before[i] + 3 * from_after[i];
    mine.first[i] = mine.first[i] * 5 + sum;
    mine.last[i] = mine.last[i] * 7 + sum;
  }
}

// Computes for this long, without memory traffic.
inline void compute(double microseconds) {
  if (microseconds <= 0) return;
  for (double const end = bench::seconds() + 1e-6 * microseconds; bench::seconds() < end;) {
  }
}

inline std::uint64_t hash(cells const& c) {
  std::uint64_t h = 0;
  for (auto const* list : {&c.first, &c.last})
    for (auto const x : *list) h = h * 31 + x;
  return h;
}

}  // namespace halo_bench
