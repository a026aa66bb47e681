// One thread links until most edges lie inside of one tree, as nearly all edges of a dense graph do from then
// on. The others are found by all threads together, which only read (Afforest's idea; Sutton, Ben-Nun and
// Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS 2018), and linked
// by the one. That is faster than to link edge by edge for one thread, too.
//
// A sparse graph never comes so far, and one thread does it all. What was tried there took longer than one
// thread, whose steps hide their waiting for memory: one forest with compare-and-swap (ConnectIt; Dhulipala,
// Hong and Shun, VLDB 2021), or with plain stores whose losses are found afterwards; a forest for each
// thread, linked into each other; ranges of nodes for each thread, between which edges travel.
#include "parallel_link.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <vector>

#include "label_kernel.hpp"
#include "label_sizes.hpp"
#include "node_bitmap.hpp"
#include "union_find.hpp"

namespace skel::components {

namespace {

// Most edges lie inside of the largest component: a bit for each of its nodes tells, in memory that is nearer
// than the parents, which take 32 times as much.
class giant_component {
 public:
  void find(std::span<node const> labels) {
    label_sample const sample(labels);
    bits_.resize(labels.size() / 64 + 1);
    for_each_word(fastest_label_kernel(), labels, sample.has_giant, sample.giant,
                  [&](std::size_t w, std::uint64_t, std::uint64_t in_giant) { bits_[w] = in_giant; });
  }
  /// What is found stays in it, whatever is linked.
  [[nodiscard]] bool contains(edge e) const { return (bit(e.u) & bit(e.v) & 1U) != 0; }

 private:
  [[nodiscard]] std::uint64_t bit(node x) const { return bits_[x / 64] >> (x % 64); }
  std::vector<std::uint64_t> bits_;
};

// The edges between two trees, as far as one look at the parents tells.
std::vector<edge> between_trees(std::span<edge const> edges, giant_component const& giant,
                                node const* parent) {
  constexpr std::size_t most = 1024, ahead = 32;
  std::array<edge, most> rest;
  std::vector<edge> found;
  while (!edges.empty()) {
    auto const part = edges.first(std::min(edges.size(), most));
    edges = edges.subspan(part.size());
    std::size_t size = 0;
    for (edge const e : part) {
      rest[size] = e;
      size += giant.contains(e) ? 0 : 1;
    }
    for (std::size_t i = 0; i < size; ++i) {
      edge const next = rest[std::min(i + ahead, size - 1)];
      __builtin_prefetch(parent + next.u);
      __builtin_prefetch(parent + next.v);
      if (parent[rest[i].u] != parent[rest[i].v]) found.push_back(rest[i]);
    }
  }
  return found;
}

// By all threads, each a slice.
std::vector<std::vector<edge>> between_trees(std::span<edge const> edges, giant_component const& giant,
                                             node const* parent, unsigned threads) {
  auto const slice = [&](unsigned t) {
    auto const first = edges.size() * t / threads;
    return between_trees(edges.subspan(first, edges.size() * (t + 1) / threads - first), giant, parent);
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
  constexpr std::size_t look = 1U << 14U;  // edges after which to look again
  // Edges of a thread at a time: those that are found need memory, and are fewer each time.
  constexpr std::size_t first_share = 1U << 19U, largest_share = 1U << 22U;
  constexpr std::size_t few = 16;
  make_singletons(label.data(), 0, label.size());
  linker links(label.data());
  giant_component giant;
  std::size_t share = first_share;
  bool dense = false, compressed = false;
  while (!edges.empty()) {
    bool const by_all = dense && edges.size() >= worthwhile * threads;
    std::size_t count = by_all ? share * threads : look;
    if (by_all && edges.size() < count + worthwhile * threads) count = edges.size();
    auto const part = edges.first(std::min(edges.size(), count));
    edges = edges.subspan(part.size());
    if (!by_all) {
      links.link(part);
      dense = links.mostly_together();
      compressed = false;
      continue;
    }
    links.finish();
    if (!compressed) {
      compress(label.data(), label.size());  // so that one look tells nearly all
      giant.find(label);
    }
    std::size_t found = 0;
    for (auto const& some : between_trees(part, giant, label.data(), threads)) {
      links.link(some);
      found += some.size();
    }
    share = std::min(2 * share, largest_share);
    dense = found < part.size() / 2;
    compressed = found < part.size() / few;
  }
  links.finish();
  compress(label.data(), label.size());
}

}  // namespace skel::components
