// A search of a binary tree: counts its nodes.
#pragma once

#include <cstdint>

#include "skel/ring_steal.hpp"

namespace call_test {

struct tree {
  using task = int;
  using result = std::uint64_t;
  void run(int depth, skel::spawner<int>& more, std::uint64_t& nodes) const {
    ++nodes;
    for (int child = 0; depth > 0 && child < 2; ++child) more(depth - 1);
  }
  std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

}  // namespace call_test
