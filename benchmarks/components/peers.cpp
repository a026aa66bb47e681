#include "peers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "big_array.hpp"
#include "generate.hpp"

namespace peers {

namespace {

using components::big_array;

node find(node* parent, node x) {
  while (parent[x] != x) {
    parent[x] = parent[parent[x]];
    x = parent[x];
  }
  return x;
}

// Calls f(first, last) on each thread, for a part of 0 ... n - 1.
template <class F>
void in_parallel(std::size_t n, unsigned threads, F&& f) {
  std::vector<std::jthread> helpers;
  for (unsigned t = 1; t < threads; ++t)
    helpers.emplace_back([&, t] { f(n * t / threads, n * (t + 1) / threads); });
  f(0, n / threads);
}

// Compressed sparse rows: count degrees, sum, scatter; each edge in both directions.
struct csr {
  big_array<std::uint64_t> offsets;
  big_array<node> neighbours;
  csr(std::span<edge const> edges, std::size_t nodes, unsigned threads)
      : offsets(nodes + 1), neighbours(2 * edges.size()) {
    std::fill(offsets.begin(), offsets.end(), 0);
    // Adds to the counter of a node; returns its value before.
    auto const add = [&](node x, std::uint64_t by) {
      if (threads > 1) return std::atomic_ref(offsets[x]).fetch_add(by, std::memory_order_relaxed);
      return std::exchange(offsets[x], offsets[x] + by);
    };
    auto const each_edge = [&](auto const& f) {
      in_parallel(edges.size(), threads, [&](std::size_t first, std::size_t last) {
        for (auto const& e : edges.subspan(first, last - first)) f(e);
      });
    };
    each_edge([&](edge const& e) { add(e.u, 1), add(e.v, 1); });
    std::uint64_t sum = 0;
    for (auto& o : offsets) o = sum += o;
    constexpr auto minus_one = ~std::uint64_t{0};
    each_edge([&](edge const& e) {
      neighbours[add(e.u, minus_one) - 1] = e.v;
      neighbours[add(e.v, minus_one) - 1] = e.u;
    });
  }
};

node get(node const* label, node x) {
  return std::atomic_ref(const_cast<node&>(label[x])).load(std::memory_order_relaxed);
}

void link(node u, node v, node* label) {
  node a = get(label, u), b = get(label, v);
  while (a != b) {
    node const high = std::max(a, b), low = std::min(a, b), above = get(label, high);
    if (above == low) break;
    node expected = high;
    if (above == high && std::atomic_ref(label[high]).compare_exchange_strong(expected, low)) break;
    a = get(label, get(label, high));
    b = get(label, low);
  }
}

void compress(node* label, std::size_t first, std::size_t last) {
  for (auto x = static_cast<node>(first); x < last; ++x)
    while (get(label, x) != get(label, get(label, x)))
      std::atomic_ref(label[x]).store(get(label, get(label, x)), std::memory_order_relaxed);
}

node most_frequent(node const* label, std::size_t nodes) {
  std::unordered_map<node, int> counts;
  for (std::uint64_t i = 0; i < 1024; ++i) ++counts[label[components::below(components::mix(i), nodes)]];
  return std::max_element(counts.begin(), counts.end(),
                          [](auto const& a, auto const& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

void union_find(std::span<edge const> edges, std::span<node> label) {
  auto* const parent = label.data();
  auto const nodes = static_cast<node>(label.size());
  for (node x = 0; x < nodes; ++x) parent[x] = x;
  for (auto const& e : edges) {
    node const u = find(parent, e.u), v = find(parent, e.v);
    if (u < v)
      parent[v] = u;
    else
      parent[u] = v;
  }
  for (node x = 0; x < nodes; ++x) parent[x] = parent[parent[x]];
}

void afforest(std::span<edge const> edges, std::span<node> label, unsigned threads) {
  constexpr std::uint64_t rounds = 2;
  auto const nodes = label.size();
  auto* const comp = label.data();
  csr const graph(edges, nodes, threads);
  for (std::size_t x = 0; x < nodes; ++x) comp[x] = static_cast<node>(x);
  auto const all_compress = [&] {
    in_parallel(nodes, threads, [&](std::size_t first, std::size_t last) { compress(comp, first, last); });
  };
  for (std::uint64_t r = 0; r < rounds; ++r) {
    in_parallel(nodes, threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t x = first; x < last; ++x)
        if (graph.offsets[x] + r < graph.offsets[x + 1])
          link(static_cast<node>(x), graph.neighbours[graph.offsets[x] + r], comp);
    });
    all_compress();
  }
  auto const largest = most_frequent(comp, nodes);
  in_parallel(nodes, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t x = first; x < last; ++x) {
      if (get(comp, static_cast<node>(x)) == largest) continue;
      for (auto i = graph.offsets[x] + rounds; i < graph.offsets[x + 1]; ++i)
        link(static_cast<node>(x), graph.neighbours[i], comp);
    }
  });
  all_compress();
}

}  // namespace peers
