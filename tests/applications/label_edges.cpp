#include "skel/applications/label_edges.hpp"

#include <queue>
#include <random>
#include <vector>

#include "catch.hpp"
#include "skel/error.hpp"
#include "skel/run_threads.hpp"

namespace {

using edges = std::vector<std::array<std::uint32_t, 2>>;

// Deals the edges to the ranks, edge i to rank i mod ranks.
std::vector<std::uint32_t> label(int ranks, edges const& all, std::uint64_t nodes) {
  std::vector<std::uint32_t> kept;
  skel::run_threads(ranks, [&](skel::context& ctx) {
    edges own;
    for (auto i = static_cast<std::size_t>(ctx.rank()); i < all.size();
         i += static_cast<std::size_t>(ctx.size()))
      own.push_back(all[i]);
    auto made = components::label_edges(ctx, own, nodes);
    if (ctx.is_root())
      kept = std::move(made.labels);
    else
      CHECK(made.labels.empty());
  });
  return kept;
}

// By breadth-first search from each node, in their order.
std::vector<std::uint32_t> searched(edges const& all, std::uint32_t nodes) {
  std::vector<std::vector<std::uint32_t>> neighbours(nodes);
  for (auto const& [u, v] : all) {
    neighbours[u].push_back(v);
    neighbours[v].push_back(u);
  }
  std::vector<std::uint32_t> labels(nodes, nodes);
  for (std::uint32_t start = 0; start < nodes; ++start) {
    if (labels[start] != nodes) continue;
    std::queue<std::uint32_t> waiting({start});
    labels[start] = start;
    for (; !waiting.empty(); waiting.pop())
      for (auto const next : neighbours[waiting.front()])
        if (labels[next] == nodes) {
          labels[next] = start;
          waiting.push(next);
        }
  }
  return labels;
}

}  // namespace

TEST_CASE("label_edges names components by their lowest node, however the edges are distributed") {
  std::mt19937 random(1);
  for (std::uint32_t const nodes : {1U, 2U, 50U, 5000U}) {
    auto const any = [&] { return static_cast<std::uint32_t>(random() % nodes); };
    edges all;
    for (std::uint32_t i = 0; i < nodes; ++i) all.push_back({any(), any()});
    auto const expected = searched(all, nodes);
    for (int const ranks : {1, 2, 3, 4, 7}) CHECK(label(ranks, all, nodes) == expected);
  }
}

TEST_CASE("label_edges without edges, and with edges on one rank only") {
  CHECK(label(3, {}, 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(label(2, {}, 0).empty());
  CHECK(label(3, {{3, 1}}, 4) == std::vector<std::uint32_t>{0, 1, 2, 1});
}

TEST_CASE("label_edges refuses a node that does not exist") {
  CHECK_THROWS_AS(label(1, {{0, 4}}, 4), skel::usage_error);
  CHECK_THROWS_AS(label(3, {{0, 1}, {1, 2}, {7, 3}}, 4), skel::usage_error);
  CHECK_THROWS_AS(label(1, {}, std::uint64_t{1} << 32), skel::usage_error);
}

TEST_CASE("label_edges refuses ranks that pass different numbers of nodes") {
  CHECK_THROWS_AS(
      skel::run_threads(2,
                        [&](skel::context& ctx) {
                          static_cast<void>(components::label_edges(ctx, {}, ctx.is_root() ? 3 : 4));
                        }),
      skel::usage_error);
}
