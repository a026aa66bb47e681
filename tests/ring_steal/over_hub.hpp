// Trees for whole ring_steal calls over several ranks in one process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "skel/ring_steal.hpp"
#include "transport/hub_transport.hpp"

namespace steal_test {

// A task is a number. Its hash determines how many children it spawns, down to level `depth`.
struct node {
  std::uint64_t id = 1;
  std::uint32_t depth = 0;
};

struct tree {
  using task = node;
  using result = std::uint64_t;
  std::uint32_t depth = 8;
  int microseconds = 0;  // spent per node
  std::atomic<int>* started = nullptr;

  static std::uint64_t hash(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
    return x ^ (x >> 29);
  }
  [[nodiscard]] unsigned children(node const& n) const {
    return n.depth < depth ? static_cast<unsigned>(hash(n.id) >> 40) % 5 + (n.depth < 2 ? 2 : 0) : 0;
  }
  void run(node const& n, skel::spawner<node>& more, std::uint64_t& sum) const {
    if (started != nullptr) ++*started;
    if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    ++sum;
    for (unsigned i = 0; i < children(n); ++i) more({hash(n.id * 8 + i), n.depth + 1});
  }
  [[nodiscard]] std::uint64_t merge(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

inline std::uint64_t count(tree const& t, node const& n = {}) {
  std::uint64_t all = 1;
  for (unsigned i = 0; i < t.children(n); ++i) all += count(t, {tree::hash(n.id * 8 + i), n.depth + 1});
  return all;
}

inline auto root_node() {
  return skel::on_root([] { return std::vector<node>{node{}}; });
}

}  // namespace steal_test
