// All ways to find components give the same labels.
#include <algorithm>
#include <random>

#include "catch.hpp"
#include "generate.hpp"
#include "job.hpp"
#include "pace.hpp"
#include "reference.hpp"
#include "search.hpp"
#include "union_find.hpp"

using namespace components;

namespace {

using vector = std::vector<node>;

vector copied(roots r) {
  auto const labels = r.labels();
  return {labels.begin(), labels.end()};
}

// Divides at random and combines in random order, with swapped arguments.
roots divided(components_job const& job, edge_part const& part, std::uint64_t random) {
  if (job.trivial(part) || random % 7 == 0)
    return random % 2 == 0 && job.trivial(part) ? job.conquer(part) : job.solve(part);
  auto const share = static_cast<double>(random % 11) / 10;
  auto const [a, b] = random % 3 == 0 ? job.divide(part) : job.divide(part, share);
  auto left = divided(job, a, mix(random)), right = divided(job, b, mix(random + 1));
  return random % 5 < 2 ? job.combine(std::move(right), std::move(left))
                        : job.combine(std::move(left), std::move(right));
}

std::vector<edge> cliques(node count, node size) {
  std::vector<edge> edges;
  for (node c = 0; c < count; ++c)
    for (node i = 0; i < size; ++i)
      for (node j = 0; j < i; ++j) edges.push_back({c + i * count, c + j * count});
  return edges;
}

}  // namespace

TEST_CASE("known graphs") {
  CHECK(reference::labels(cliques(7, 9), 63) ==
        copied(components_job{.nodes = 63}.solve(reference::part_of(cliques(7, 9)))));
  auto const count = [](std::vector<edge> const& edges, std::uint64_t nodes) {
    return count_components(copied(components_job{.nodes = nodes}.solve(reference::part_of(edges))));
  };
  CHECK(count(cliques(7, 9), 63) == 7);
  CHECK(count({}, 12) == 12);
  CHECK(count({}, 0) == 0);
  CHECK(count({{3, 3}, {3, 3}, {1, 2}, {2, 1}}, 5) == 4);
  CHECK(count(reference::edges_of(parse_graph("grid:width=37,height=21")), 37 * 21) == 1);
  CHECK(count(reference::edges_of(parse_graph("grid:width=37,height=21,seed=4")), 37 * 21) == 1);
  // A path from the largest to the smallest node gives the deepest forest.
  std::vector<edge> path;
  for (node i = 5000; i > 0; --i) path.push_back({i, i - 1});
  CHECK(count(path, 5001) == 1);
}

TEST_CASE("all methods and divisions agree with label propagation") {
  auto const spec =
      GENERATE("uniform:n=1000,m=300,seed=1", "uniform:n=1000,m=500,seed=2", "uniform:n=1000,m=1000,seed=3",
               "uniform:n=3000,m=9000,seed=4", "uniform:n=1,m=5", "uniform:n=2,m=1,seed=6",
               "kronecker:scale=10,degree=2,seed=7", "grid:width=30,height=33,seed=8",
               "grid:width=1000,height=1", "uniform:n=65,m=40,seed=9");
  INFO(spec);
  auto const g = parse_graph(spec);
  auto const edges = reference::edges_of(g);
  auto const expected = reference::labels(edges, g.nodes);
  CHECK(!find_fault(edges, expected));
  auto const graph = reference::part_of(edges);
  components_job job{.nodes = g.nodes};
  CHECK(copied(job.solve(graph)) == expected);
  job.local = local_method::dfs;
  CHECK(copied(job.solve(graph)) == expected);
  job.local = local_method::union_find;
  for (std::uint64_t i = 0; i < 30; ++i) CHECK(copied(divided(job, graph, mix(i))) == expected);
}

TEST_CASE("all methods give the same labels with any number of threads") {
  auto const spec = GENERATE("uniform:n=300000,m=250000,seed=1", "kronecker:scale=14,degree=16,seed=2",
                             "uniform:n=200,m=400000,seed=3", "uniform:n=30000,m=3000000,seed=4",
                             "grid:width=400,seed=5", "grid:width=400");
  INFO(spec);
  auto const g = parse_graph(spec);
  auto const edges = reference::edges_of(g);
  vector one(g.nodes), many(g.nodes);
  label_components(edges, one, 1, SIZE_MAX);  // edge by edge
  CHECK(!find_fault(edges, one));
  for (unsigned const threads : {1U, 2U, 3U, 4U, 7U}) {
    for (double const tolerated : {1.6, 0.0}) {  // 0: one thread always continues alone
      std::fill(many.begin(), many.end(), node{1} << 31);
      label_components(edges, many, threads, 100, tolerated);
      CHECK((many == one));
    }
  }
}

TEST_CASE("threads that link the same nodes at the same time lose no links") {
  // Repeats a spanning tree, in which every lost link is detected.
  constexpr node n = 1 << 18;
  std::vector<edge> edges;
  for (node i = 1; i < n; ++i) edges.push_back({i, static_cast<node>(mix(i) % std::min<node>(i, 64))});
  vector label(n);
  for (unsigned round = 0; round < 30; ++round) {
    std::shuffle(edges.begin(), edges.end(), std::minstd_rand(round));
    label_components(edges, label, 4, 100, 1e9);  // all link, although they hinder each other
    REQUIRE(std::ranges::count(label, node{0}) == n);
  }
}

TEST_CASE("threads stop if they are slower than one") {
  pace two(2, 0.9);
  CHECK(!two.together(100));  // the time of one thread is not yet known
  for (double const seconds : {3.0, 1.0, 2.0}) two.alone(seconds);
  for (double const seconds : {1.9, 9.0, 9.0, 1.7, 1.9, 1.9, 1.9}) CHECK(!two.together(seconds));
  CHECK(two.together(1.9));  // four in a row
  pace three(3, 0.9);
  three.alone(1);
  for (int i = 0; i < 9; ++i) CHECK(!three.together(2.6));
}

TEST_CASE("a graph that looks dense turns out to be a path") {
  constexpr node n = 300'000;
  std::vector<edge> edges;
  for (node i = 0; i < 100'000; ++i) edges.push_back({n - 1 - i % 50, n - 1 - i % 47});
  for (node i = n - 1; i > 0; --i) edges.push_back({i, i - 1});
  std::vector<node> label(n);
  label_components(edges, label, 3, 100);
  CHECK(std::ranges::count(label, node{0}) == n);
}

TEST_CASE("the last edges of a dense graph join a few trees") {
  constexpr node inside = 1000, chain = 6, n = inside + 2 * chain;
  std::vector<edge> edges;
  for (node i = 0; i < 400'000; ++i)
    edges.push_back({static_cast<node>(mix(i) % inside), static_cast<node>(mix(i + 1) % inside)});
  // Two chains from both ends to the middle: trees are linked to trees that were just linked.
  for (node c = 0; c < 2; ++c)
    for (node i = 0; i + 1 < chain; ++i) {
      node const at = inside + c * chain + (i % 2 == 0 ? i / 2 : chain - 2 - i / 2);
      edges.push_back({at + 1, at});
    }
  auto joined = edges;
  joined.push_back({inside + chain, 7});
  std::vector<node> label(n), few(n);
  for (unsigned const threads : {1U, 2U, 3U}) {
    label_components(edges, label, threads, 100);
    label_components(joined, few, threads, 100);
    for (node x = 0; x < n; ++x) {
      node const own = x < inside ? 0 : inside + (x - inside) / chain * chain;
      REQUIRE(label[x] == own);
      REQUIRE(few[x] == (own == inside + chain ? 0 : own));
    }
  }
}

TEST_CASE("the last two edges of a dense graph join trees of several nodes") {
  constexpr node inside = 1000, size = 6, n = inside + 2 * size;
  std::vector<edge> edges;
  for (node x = 1; x < size; ++x)
    for (node const root : {inside, inside + size}) edges.push_back({root + x, root});
  for (node i = 0; i < 400'000; ++i)
    edges.push_back({static_cast<node>(mix(i) % inside), static_cast<node>(mix(i + 1) % inside)});
  edges.push_back({inside + size + 3, inside + 2});
  edges.push_back({inside + 4, 7});
  std::vector<node> label(n);
  for (unsigned const threads : {1U, 2U, 3U}) {
    label_components(edges, label, threads, 100);
    CHECK(std::ranges::count(label, node{0}) == n);
  }
}

TEST_CASE("an edge part generates missing edges of a formula, and is sent as the formula") {
  auto const g = parse_graph("uniform:n=1000,m=1000,seed=3");
  edge_array none;
  none.formula = g;
  edge_part const all(std::make_shared<edge_array const>(std::move(none)), 0, g.edges);
  auto const part = all.halves()[1].halves()[0];
  auto const edges = reference::edges_of(g);
  auto const same = [&](edge_part const& p) {
    auto const made = p.edges();
    return std::equal(made.span().begin(), made.span().end(), edges.begin() + 500, edges.begin() + 750);
  };
  CHECK(same(part));
  for (auto const& source : {part, reference::part_of(edges).halves()[1].halves()[0]}) {
    std::vector<std::byte> bytes;
    skel::pack(source, bytes);
    CHECK(bytes.size() < 64 + (&source == &part ? 0U : 250 * sizeof(edge)));
    std::span<std::byte const> in(bytes);
    CHECK(same(skel::unpack<edge_part>(in)));
    CHECK(in.empty());
  }
}
