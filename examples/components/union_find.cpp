// All threads link in one forest with plain loads and stores. They stop when all edges are linked,
// or when most of the remaining ones lie inside one tree, as nearly all edges of a dense graph then
// do. A parent is always smaller than its child, so threads can only build trees, and only of
// connected nodes. A link is lost if two threads link one node at the same moment, about once in a
// million links. With several threads all edges are therefore checked again. If cores share no
// cache, one thread continues alone.
// Compare-and-swap would lose no links (ConnectIt, by Dhulipala, Hong and Shun, VLDB 2021), but two
// threads with it are slower than one without. docs/measurements/components.md lists further attempts.
//
// Next, all threads search for edges between two trees, which only reads, and one thread links
// them. This is the idea of Afforest (Sutton, Ben-Nun and Barak, "Optimizing parallel graph
// connectivity computation via subgraph sampling", IPDPS 2018). On dense graphs it is faster than
// linking edge by edge, even with one thread.
#include "union_find.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <vector>

#include "big_array.hpp"
#include "pace.hpp"

namespace components {

namespace {

// Runs work(t) for all t < threads in parallel; the calling thread runs work(0). Rethrows an
// exception of any of them. If the system grants fewer threads, the calling thread does their work
// afterwards.
template <class Work>
void on_threads(unsigned threads, Work const& work) {
  std::vector<std::future<void>> others;  // the destructors wait
  for (unsigned t = 1; t < threads; ++t) others.push_back(std::async([&work, t] { work(t); }));
  work(0);
  for (auto& other : others) other.get();
}

template <class F>
double seconds_of(F const& f) {
  auto const begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Links edges until all are linked or, if `worthwhile` are left, until most lie inside one tree.
// Returns the edges that are not certainly linked. Reduces `threads` to one if threads slow each
// other down.
std::span<edge const> link_first(std::span<edge const> edges, node* parent, unsigned& threads,
                                 std::size_t worthwhile, double tolerated) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> dense = false, hindered = false;
  auto const link_some = [&](linker& links) {  // returns false if none are left
    constexpr std::size_t some = 1U << 12U;
    auto const first = next.fetch_add(some);
    if (first >= edges.size()) return false;
    links.link(edges.subspan(first, std::min(some, edges.size() - first)));
    if (links.mostly_together() && edges.size() - first > worthwhile) dense = true;
    return true;
  };
  linker alone(parent);
  if (threads > 1) {
    pace speed(threads, tolerated);
    for (int i = 0; i < 2; ++i) speed.alone(seconds_of([&] { link_some(alone); }));
    alone.finish();
    on_threads(threads, [&](unsigned /*t*/) {
      linker links(parent);
      pace own = speed;
      for (bool more = true; more && !dense && !hindered;) {
        double const seconds = seconds_of([&] { more = link_some(links); });
        bool const early = next < edges.size() / 8;  // later the switch costs more than it saves
        if (more && early && own.together(seconds)) hindered = true;
      }
      links.finish();
    });
    if (!hindered) return edges;
    threads = 1;
    // Links again, to replace lost links. A thread also loses an earlier link if it gives the node
    // another parent, and its link to the old parent is lost.
    alone.link(edges.first(std::min(next.load(), edges.size())));
  }
  while (!dense && link_some(alone)) continue;
  alone.finish();
  return edges.subspan(std::min(next.load(), edges.size()));
}

// Most edges lie inside the largest component. A bit per node tells its members, in a 32nd of the
// parents' memory and thus in a nearer cache.
std::vector<std::uint64_t> bits_of_giant(std::span<node const> labels) {
  auto const giant = label_of_giant(labels);
  std::vector<std::uint64_t> bits(labels.size() / 64 + 1);
  for (std::size_t w = 0; w < bits.size(); ++w) {
    std::array<std::uint8_t, 64> inside{};
    auto const some = labels.subspan(64 * w, std::min<std::size_t>(64, labels.size() - 64 * w));
    if (some.size() == inside.size())  // a constant trip count is 3 times as fast
      for (std::size_t i = 0; i < inside.size(); ++i) inside[i] = some[i] == giant;
    else
      for (std::size_t i = 0; i < some.size(); ++i) inside[i] = some[i] == giant;
    bits[w] = bits_of(inside);
  }
  return bits;
}

// Calls take(some) for the edges that seem to join two trees, judged by one look at the parents, as
// edges between their roots.
template <class Take>
void find_between_trees(std::span<edge const> edges, std::span<std::uint64_t const> giant, node const* parent,
                        Take const& take) {
  constexpr std::size_t most = 1024, ahead = 32;
  std::array<edge, most> rest;
  auto const inside = [giant](node x) { return giant[x / 64] >> (x % 64); };
  while (!edges.empty()) {
    auto const part = edges.first(std::min(edges.size(), most));
    edges = edges.subspan(part.size());
    std::size_t size = 0, between = 0;
    for (edge const e : part) {  // branch-free
      rest[size] = e;
      size += ~(inside(e.u) & inside(e.v)) & 1U;
    }
    for (std::size_t i = 0; i < size; ++i) {
      edge const next = rest[std::min(i + ahead, size - 1)];
      __builtin_prefetch(parent + next.u);
      __builtin_prefetch(parent + next.v);
      edge const e = rest[i], roots{parent[e.u], parent[e.v]};
      rest[between] = roots;
      between += roots.u != roots.v ? 1 : 0;
    }
    if (between > 0) take(std::span<edge const>(rest).first(between));
  }
}

// Compresses the forest after these few edges were linked, without random accesses: the nodes of a
// tree that disappeared have the label of one of the ends.
void relabel(std::span<edge const> joined, std::span<node> label) {
  for (edge const e : joined)
    for (node const gone : {e.u, e.v}) {
      node root = gone;
      while (label[root] != root) root = label[root];
      if (root == gone) continue;
      for (node& x : label.subspan(gone))
        x = x == gone ? root : x;  // nodes are never smaller than their root
    }
}

// All threads search for edges that join trees and one links them, until most edges of a sample do.
// Returns the edges that were not searched. Sets `compressed` if every node points to its root.
std::span<edge const> link_rest(std::span<edge const> edges, std::span<node> parent, unsigned threads,
                                bool& compressed) {
  // Threads usually lose only a few links. Compressing takes as long as four passes of relabel().
  constexpr std::size_t few = 2;
  compressed = false;
  // Edges per thread and round; each round finds fewer.
  constexpr std::size_t first_share = 1U << 19U, largest_share = 1U << 22U, few_of = 16;
  std::vector<big_array<edge>> found(threads);
  if (threads > 1)
    for (auto& some : found) some.reserve(first_share);  // on large pages
  for (auto share = first_share; !edges.empty();) {
    compress(parent);  // so that one look decides nearly all edges
    auto const giant = bits_of_giant(parent);
    std::size_t joining = 0, looked = 0;
    std::vector<edge> joined;
    while (!edges.empty() && joining <= looked / few_of) {
      auto const part = edges.first(std::min(edges.size(), share * threads));
      linker links(parent.data());
      auto const link = [&](std::span<edge const> some) {
        links.link(some);
        joining += some.size();
        if (joining <= few) joined.insert(joined.end(), some.begin(), some.end());
      };
      if (threads == 1) {  // no lists: their fresh pages cost half of the time at scale 18
        find_between_trees(part, giant, parent.data(), link);
      } else {
        on_threads(threads, [&](unsigned t) {
          auto const first = part.size() * t / threads, last = part.size() * (t + 1) / threads;
          found[t].resize(0);
          find_between_trees(part.subspan(first, last - first), giant, parent.data(),
                             [&own = found[t]](std::span<edge const> some) {
                               for (edge const e : some) own.push_back(e);
                             });
        });
        for (auto const& some : found) link(some.span());
      }
      links.finish();
      looked += part.size();
      edges = edges.subspan(part.size());
      share = std::min(2 * share, largest_share);
    }
    compressed = edges.empty() && joining <= few;
    if (compressed) relabel(joined, parent);
    if (joining >= looked / 2) return edges;
  }
  return edges;
}

}  // namespace

void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile, double tolerated) {
  // To start threads and to find out whether they hinder each other takes a millisecond or so.
  auto const of_a_thread = worthwhile < SIZE_MAX / 3 ? 3 * worthwhile : worthwhile;
  threads = static_cast<unsigned>(std::clamp<std::size_t>(edges.size() / of_a_thread, 1, threads));
  make_singletons(label);
  bool compressed = false;
  for (auto linking = threads; !edges.empty();)
    edges = link_rest(link_first(edges, label.data(), linking, worthwhile, tolerated), label, threads,
                      compressed);
  if (!compressed) compress(label);
}

node label_of_giant(std::span<node const> labels) {
  constexpr std::size_t samples = 1024, least = samples / 16;
  if (labels.empty()) return static_cast<node>(most_nodes);
  std::array<node, samples> drawn;
  for (std::size_t i = 0; i < samples; ++i) drawn[i] = labels[labels.size() * i / samples];
  std::sort(drawn.begin(), drawn.end());
  std::size_t most = 0;
  node giant = 0;
  for (std::size_t i = 0, begin = 0; i < samples; ++i) {
    if (drawn[i] != drawn[begin]) begin = i;
    if (i - begin >= most) most = i - begin + 1, giant = drawn[i];
  }
  return most < least ? static_cast<node>(most_nodes) : giant;
}

}  // namespace components
