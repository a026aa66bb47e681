// One thread links until most edges lie inside of one tree, as nearly all edges of a dense graph do from then
// on. The others are found by all threads together, which only read (Afforest's idea; Sutton, Ben-Nun and
// Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS 2018), and linked
// by the one.
//
// A sparse graph never comes so far, and one thread does it all. What was tried there took longer than one
// thread, whose steps hide their waiting for memory: one forest with compare-and-swap (ConnectIt; Dhulipala,
// Hong and Shun, VLDB 2021), or with plain stores whose losses are found afterwards; a forest for each
// thread, linked into each other; ranges of nodes for each thread, between which edges travel.
#include "parallel_link.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include "union_find.hpp"

namespace skel::components {

namespace {

// The edges between two trees, as far as one look at the parents tells.
std::vector<edge> between_trees(std::span<edge const> edges, node const* parent) {
  constexpr std::size_t ahead = 32;
  std::vector<edge> found;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edge const next = edges[std::min(i + ahead, edges.size() - 1)];
    __builtin_prefetch(parent + next.u);
    __builtin_prefetch(parent + next.v);
    if (parent[edges[i].u] != parent[edges[i].v]) found.push_back(edges[i]);
  }
  return found;
}

// By all threads, each a slice.
std::vector<std::vector<edge>> between_trees(std::span<edge const> edges, node const* parent,
                                             unsigned threads) {
  auto const slice = [&](unsigned t) {
    auto const first = edges.size() * t / threads;
    return between_trees(edges.subspan(first, edges.size() * (t + 1) / threads - first), parent);
  };
  std::vector<std::future<std::vector<edge>>> others;
  for (unsigned t = 1; t < threads; ++t) others.push_back(std::async(std::launch::async, slice, t));
  std::vector<std::vector<edge>> found{slice(0)};
  for (auto& o : others) found.push_back(o.get());
  return found;
}

}  // namespace

void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile) {
  constexpr std::size_t look = 1U << 14U;         // edges after which to look again
  constexpr std::size_t of_a_thread = 1U << 21U;  // edges at a time: those that are found need memory
  constexpr std::size_t few = 16;
  make_singletons(label.data(), 0, label.size());
  linker links(label.data());
  bool compressed = false;
  while (!edges.empty()) {
    bool const dense = threads > 1 && links.mostly_together() && edges.size() >= worthwhile * threads;
    auto const part = edges.first(std::min(edges.size(), dense ? of_a_thread * threads : look));
    edges = edges.subspan(part.size());
    if (!dense) {
      links.link(part);
      compressed = false;
      continue;
    }
    links.finish();
    if (!compressed) compress(label.data(), label.size());  // so that one look tells nearly all
    std::size_t found = 0;
    for (auto const& some : between_trees(part, label.data(), threads)) {
      links.link(some);
      found += some.size();
    }
    compressed = found < part.size() / few;
  }
  links.finish();
  compress(label.data(), label.size());
}

}  // namespace skel::components
