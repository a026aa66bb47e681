// Each thread links its share of the edges in a forest of its own; then forests are linked into each other,
// in pairs. A forest for all would be written by everybody everywhere: with compare-and-swap for the links of
// roots (ConnectIt; Dhulipala, Hong and Shun, VLDB 2021), and also with plain stores and lost links found
// afterwards, two threads that fetch the lines of the cache from each other took as long as one.
#include "parallel_link.hpp"

#include <algorithm>
#include <future>

#include "big_array.hpp"
#include "union_find.hpp"

namespace skel::components {

namespace {

void link_edges(std::span<edge const> edges, std::span<node> parent) {
  make_singletons(parent.data(), 0, parent.size());
  linker links(parent.data());
  links.link(edges);
  links.finish();
}

// The left half of the threads in `parent`, the right one in a forest that is linked into it.
void link_in_parallel(std::span<edge const> edges, std::span<node> parent, unsigned threads) {
  if (threads == 1) return link_edges(edges, parent);
  unsigned const right = threads / 2;
  auto const cut = edges.size() - edges.size() / threads * right;
  auto others = std::async(std::launch::async, [&] {
    big_array<node> forest(parent.size());
    link_in_parallel(edges.subspan(cut), {forest.data(), forest.size()}, right);
    return forest;
  });
  link_in_parallel(edges.first(cut), parent, threads - right);
  linker links(parent.data());
  links.link_forest(others.get().span());
  links.finish();
}

// So many that all forests together need no more than 2.5 times the memory of edges and labels, and each has
// enough to do.
unsigned worthwhile(unsigned threads, std::size_t edges, std::size_t nodes) {
  constexpr std::size_t edges_of_a_thread = 20'000;
  auto const forests = 1 + (2 * edges + nodes) * 5 / 4 / std::max<std::size_t>(nodes, 1);
  return static_cast<unsigned>(
      std::clamp<std::size_t>(std::min(forests, edges / edges_of_a_thread), 1, std::max(threads, 1U)));
}

}  // namespace

void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads) {
  link_in_parallel(edges, label, worthwhile(threads, edges.size(), label.size()));
  compress(label.data(), label.size());
}

}  // namespace skel::components
