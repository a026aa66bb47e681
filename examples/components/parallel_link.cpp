// All threads link in one forest, with plain loads and stores, until all edges are linked or most lie inside
// of one tree, as nearly all edges of a dense graph do from then on. A parent is smaller than its child
// whatever threads do to each other, so what they make are trees, and of connected nodes only; but a link is
// lost when two of them link one node at the same moment: about one in a million. So with more than one
// thread all edges are looked at again. Where cores share no cache one thread goes on alone.
// (Compare-and-swap loses nothing: ConnectIt, by Dhulipala, Hong and Shun, VLDB 2021. It takes two threads
// longer than one needs without. docs/components.md has what else was tried.)
//
// All threads look for edges between two trees, which only reads, and one links these: Afforest's idea
// (Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
// IPDPS 2018). On dense graphs that is faster than to link edge by edge for one thread, too.
#include "parallel_link.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "big_array.hpp"
#include "label_kernel.hpp"
#include "label_sizes.hpp"
#include "node_bitmap.hpp"
#include "pace.hpp"
#include "team.hpp"
#include "union_find.hpp"

namespace skel::components {

namespace {

// Most edges lie inside of the largest component: a bit for each of its nodes tells, in memory that is nearer
// than the parents, which take 32 times as much.
class giant_component {
 public:
  giant_component(std::span<node const> labels, team& threads) : bits_(labels.size() / 64 + 1) {
    label_sample const sample(labels);
    threads.run([&](unsigned t) {
      auto const first = threads.share(bits_.size(), t), last = threads.share(bits_.size(), t + 1);
      auto const mine = labels.subspan(64 * first, std::min(64 * last, labels.size()) - 64 * first);
      for_each_word(
          kernel_, mine, sample.has_giant, sample.giant,
          [&](std::size_t w, std::uint64_t, std::uint64_t in_giant) { bits_[first + w] = in_giant; });
    });
  }
  /// Copies the edges that have an end outside to `rest`, which has room for 8 more; returns how many. What
  /// is found stays inside, whatever is linked.
  std::size_t leaving(std::span<edge const> edges, edge* rest) const {
    return kernel_.leaving(edges, bits_.data(), rest);
  }

 private:
  label_kernel const& kernel_ = fastest_label_kernel();
  big_array<std::uint64_t> bits_;
};

// take(some) for the edges between two trees, as far as one look at the parents tells: some edges between
// their roots.
template <class Take>
void for_those_between_trees(std::span<edge const> edges, giant_component const& giant, node const* parent,
                             Take const& take) {
  constexpr std::size_t most = 1024, ahead = 32;
  std::array<edge, most + 8> rest;
  while (!edges.empty()) {
    auto const part = edges.first(std::min(edges.size(), most));
    edges = edges.subspan(part.size());
    std::size_t const size = giant.leaving(part, rest.data());
    std::size_t found = 0;
    for (std::size_t i = 0; i < size; ++i) {
      edge const next = rest[std::min(i + ahead, size - 1)];
      __builtin_prefetch(parent + next.u);
      __builtin_prefetch(parent + next.v);
      edge const e = rest[i], roots{parent[e.u], parent[e.v]};
      rest[found] = roots;
      found += roots.u != roots.v ? 1 : 0;
    }
    if (found > 0) take(std::span<edge const>(rest).first(found));
  }
}

class labelling {
 public:
  labelling(std::span<node> label, team& threads) : label_(label), parent_(label.data()), threads_(threads) {
    // What a cache holds is in that of thread 0, when it measures how fast it is alone.
    constexpr std::size_t cached = 1U << 22U;
    if (label.size() <= cached)
      make_singletons(parent_, 0, label.size());
    else
      threads.run([&](unsigned t) {
        make_singletons(parent_, threads.share(label.size(), t), threads.share(label.size(), t + 1));
      });
  }

  /// Links edges until all are linked or, if `worthwhile` are left, until most lie inside of one tree.
  /// Returns the edges that are not linked for certain.
  std::span<edge const> link_first(std::span<edge const> edges, std::size_t worthwhile, double tolerated) {
    compressed_ = false;
    if (!alone_ && threads_.size() > 1) {
      progress at{edges, worthwhile, pace(threads_.size(), tolerated)};
      at.link_alone(parent_);
      threads_.run([&](unsigned t) { at.link(linker(parent_), t); });
      if (!at.hindered) return edges;
      alone_ = true;
      linker links(parent_);  // again: what several threads have linked is not certain
      links.link(edges.first(edges.size() - at.rest().size()));
      links.finish();
      edges = at.rest();
    }
    progress at{edges, worthwhile, pace(1, HUGE_VAL)};
    at.link(linker(parent_), 0);
    return at.rest();
  }

  /// Links those of the edges that join trees, until most of some do. Returns the edges that were not looked
  /// at.
  std::span<edge const> link_rest(std::span<edge const> edges) {
    // Edges of a thread at a time. Those that are found are fewer each time, and need memory where there are
    // several threads.
    constexpr std::size_t first_share = 1U << 19U, largest_share = 1U << 22U, least_share = 1U << 18U;
    constexpr std::size_t few_of = 16;
    bool sparse = false;
    for (auto share = first_share; !edges.empty() && !sparse;) {
      compress();  // so that one look tells nearly all
      giant_component const giant(label_, threads_);
      std::size_t found = 0, looked = 0;
      while (!edges.empty() && found <= looked / few_of) {
        auto count = std::min(edges.size(), share * threads_.size());
        if (edges.size() - count < least_share * threads_.size()) count = edges.size();
        found += link_between(edges.first(count), giant);
        looked += count;
        edges = edges.subspan(count);
        share = std::min(2 * share, largest_share);
      }
      sparse = found >= looked / 2;
    }
    return edges;
  }

  /// Every node points to its root. Threads take ascending stretches, so nearly all parents are in stretches
  /// that are done: one look suffices there, as for one thread. Nodes with other parents are led to their
  /// roots. Where a few trees have been linked since, their nodes are looked for.
  void compress() {
    if (std::exchange(compressed_, true)) {
      relabel();
      return;
    }
    linked_.clear();
    if (alone_ || threads_.size() == 1) {
      components::compress(parent_, label_.size());
      return;
    }
    std::atomic<std::size_t> next = 0;
    // All nodes before the least of these are done. A thread that has not begun takes none before `next`.
    std::vector<std::atomic<std::size_t>> at(threads_.size());
    for (auto& a : at) a = SIZE_MAX;
    threads_.run([&](unsigned t) {
      at[t] = next.load();
      while ((at[t] = next.fetch_add(stretch)) < label_.size()) {
        auto const first = at[t].load();
        auto done = first;
        for (auto const& a : at) done = std::min(done, a.load());
        compress(done, first, std::min(first + stretch, label_.size()));
      }
    });
  }

 private:
  static constexpr std::size_t stretch = 1U << 12U, few = 16;

  // What threads have linked of some edges.
  struct progress {
    std::span<edge const> edges;
    std::size_t worthwhile;
    pace speed;
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> dense = false, hindered = false;

    // Before the others begin.
    void link_alone(node* parent) {
      linker links(parent);
      for (int i = 0; i < 2; ++i) speed.alone(seconds_of([&] { link_some(links); }));
      links.finish();
    }
    // Thread 0 looks whether it would better be alone.
    void link(linker links, unsigned t) {
      while (!dense && !hindered) {
        bool more = false;
        double const seconds = seconds_of([&] { more = link_some(links); });
        if (!more) break;
        bool const early = next < edges.size() / 4;  // later it would lose more than it gains
        if (t == 0 && early && speed.together(seconds)) hindered = true;
      }
      links.finish();
    }
    [[nodiscard]] std::span<edge const> rest() const {
      return edges.subspan(std::min(next.load(), edges.size()));
    }

   private:
    // False if there are no more.
    bool link_some(linker& links) {
      constexpr std::size_t some = 1U << 13U;
      auto const first = next.fetch_add(some);
      if (first >= edges.size()) return false;
      links.link(edges.subspan(first, std::min(some, edges.size() - first)));
      if (links.mostly_together() && edges.size() - first > worthwhile) dense = true;
      return true;
    }
    template <class F>
    static double seconds_of(F const& f) {
      auto const begin = std::chrono::steady_clock::now();
      f();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  };

  // Nodes first ... last - 1, while those before `done` point to their roots, and only this thread stores
  // those.
  void compress(std::size_t done, std::size_t first, std::size_t last) {
    constexpr std::size_t ahead = 64, block = 16;
    auto* const parent = parent_;
    auto const is_late = [low = static_cast<node>(done), size = static_cast<node>(first - done)](node x) {
      return x - low < size;
    };
    auto const look = [=](std::size_t i) {
      auto const x = static_cast<node>(i);
      node const above = parent_of(parent, x);
      set_parent(parent, x, parent_of(parent, above));
      return is_late(above);
    };
    for (auto b = first; b < last; b += block) {
      bool late = false;
      if (b + block <= last && b + ahead + block <= label_.size()) {
        for (std::size_t i = 0; i < block; ++i) {
          __builtin_prefetch(parent + parent_of(parent, static_cast<node>(b + ahead + i)));
          late |= look(b + i);
        }
      } else {
        for (auto x = b; x < std::min(b + block, last); ++x) late |= look(x);
      }
      for (auto x = b; late && x < std::min(b + block, last); ++x)
        set_parent(parent, static_cast<node>(x), root_of(parent[x]));
    }
  }

  void relabel() {
    if (linked_.empty()) return;
    // Nodes of a tree are not smaller than its root.
    auto const nodes = label_.subspan(std::ranges::min(linked_, {}, &edge::u).u);
    threads_.run([&](unsigned t) {
      auto const last = threads_.share(nodes.size(), t + 1);
      for (auto b = threads_.share(nodes.size(), t); b < last; b += stretch) {
        auto const some = nodes.subspan(b, std::min(stretch, last - b));
        for (edge const gone : linked_)
          for (node& x : some) x = x == gone.u ? gone.v : x;  // always stored, so that it takes 4 at a time
      }
    });
    linked_.clear();
  }

  [[nodiscard]] node root_of(node x) const {
    for (;;) {
      node const above = parent_of(parent_, x);
      if (above == x) return x;
      x = above;
    }
  }

  // All threads look, each at a slice, and one links what they have found. Returns how many edges these are.
  std::size_t link_between(std::span<edge const> edges, giant_component const& giant) {
    linker links(parent_);
    if (threads_.size() == 1) {
      std::size_t all = 0;
      for_those_between_trees(edges, giant, parent_, [&](std::span<edge const> some) {
        links.link(some);
        all += some.size();
      });
      links.finish();
      if (all > 0) compressed_ = false;
      return all;
    }
    std::vector<std::vector<edge>> found(threads_.size());
    threads_.run([&](unsigned t) {
      auto const first = threads_.share(edges.size(), t), last = threads_.share(edges.size(), t + 1);
      for_those_between_trees(
          edges.subspan(first, last - first), giant, parent_,
          [&](std::span<edge const> some) { found[t].insert(found[t].end(), some.begin(), some.end()); });
    });
    std::size_t all = 0;
    for (auto const& some : found) all += some.size();
    if (compressed_ && all + linked_.size() <= few) {
      for (auto const& some : found)
        for (edge const e : some) link_roots(root_of(e.u), root_of(e.v));
    } else if (all > 0) {
      for (auto const& some : found) links.link(some);
      links.finish();
      compressed_ = false;
    }
    return all;
  }
  void link_roots(node u, node v) {
    if (u == v) return;
    parent_[std::max(u, v)] = std::min(u, v);
    linked_.push_back({std::max(u, v), std::min(u, v)});
  }

  std::span<node> label_;
  node* parent_;
  team& threads_;
  bool alone_ = false;  // other threads only read
  // Every node points to its root, but for those of trees that were linked since: their roots, and where
  // these point to.
  bool compressed_ = false;
  std::vector<edge> linked_;
};

}  // namespace

void label_components(std::span<edge const> edges, std::span<node> label, unsigned threads,
                      std::size_t worthwhile, double tolerated) {
  team all(static_cast<unsigned>(std::clamp<std::size_t>(edges.size() / worthwhile, 1, threads)));
  labelling labels(label, all);
  while (!edges.empty()) edges = labels.link_rest(labels.link_first(edges, worthwhile, tolerated));
  labels.compress();
}

}  // namespace skel::components
