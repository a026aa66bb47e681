// Graphs given by a formula: parts are the same wherever they are generated, and graphs have the
// stated properties.
#include "generate.hpp"

#include <algorithm>
#include <set>

#include "catch.hpp"
#include "reference.hpp"
#include "skel/error.hpp"

using namespace components;

namespace {

std::string error_of(std::string const& spec) {
  try {
    (void)parse_graph(spec);
  } catch (skel::usage_error const& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("any part equals that of the whole") {
  for (char const* spec : {"uniform:n=1000,m=5000,seed=7", "kronecker:scale=9,degree=8,seed=2",
                           "grid:width=40,height=31", "grid:width=40,height=31,seed=3"}) {
    auto const g = parse_graph(spec);
    auto const all = reference::edges_of(g);
    for (std::uint64_t i = 0; i < 50; ++i) {
      auto const first = below(mix(i), g.edges + 1), size = below(mix(i + 99), g.edges - first + 1);
      std::vector<edge> part(size);
      generate(g, first, part);
      CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    for (auto const& e : all) REQUIRE(std::max(e.u, e.v) < g.nodes);
    CHECK(parse_graph(to_string(g)) == g);
  }
}

TEST_CASE("a uniform graph has the expected degrees") {
  auto const g = parse_graph("uniform:n=100000,m=100000,seed=5");
  std::vector<int> degree(g.nodes);
  for (auto const& e : reference::edges_of(g)) ++degree[e.u], ++degree[e.v];
  // Poisson with mean 2: exp(-2) = 0.1353 of the nodes have no edge.
  CHECK(static_cast<double>(std::count(degree.begin(), degree.end(), 0)) == Approx(13534).epsilon(0.03));
  CHECK(reference::edges_of(g) != reference::edges_of(parse_graph("uniform:n=100000,m=100000,seed=6")));
}

TEST_CASE("a Kronecker graph has the expected degrees under a permutation of its nodes") {
  auto const g = parse_graph("kronecker:scale=12,degree=16,seed=5");
  std::vector<int> degree(g.nodes);
  for (auto const& e : reference::edges_of(g)) ++degree[e.u], ++degree[e.v];
  // The node with bits 0 in both ends of every level: (0.76)^12 of the ends, twice.
  CHECK(*std::max_element(degree.begin(), degree.end()) ==
        Approx(2 * 65536 * std::pow(0.76, 12)).epsilon(0.1));
  permutation_of_bits const p(12, 5);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 4096; ++i) seen.insert(p(i));
  CHECK((seen.size() == 4096 && *seen.rbegin() == 4095));
}

TEST_CASE("a grid has each edge once, in any order") {
  auto rows = reference::edges_of(parse_graph("grid:width=13,height=7"));
  auto shuffled = reference::edges_of(parse_graph("grid:width=13,height=7,seed=1"));
  CHECK(rows.size() == 12 * 7 + 13 * 6);
  CHECK(rows != shuffled);
  std::sort(rows.begin(), rows.end());
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(rows == shuffled);
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  for (auto const& [u, v] : rows) CHECK((v - u == 13 || (v - u == 1 && u / 13 == v / 13)));
}

TEST_CASE("errors of formulas") {
  CHECK(error_of("ring:n=3") ==
        "--generate: unknown graph \"ring:n=3\"; known: uniform:n=,m=,seed=, kronecker:scale=,degree=,seed=, "
        "grid:width=,height=,seed=");
  CHECK(error_of("uniform:n=3") == "--generate: missing m in \"uniform:n=3\"");
  CHECK(error_of("uniform") == "--generate: missing n in \"uniform\"");
  CHECK(error_of("uniform:n=0,m=1") ==
        "--generate: n must be a number from 1 to 4294967295, found \"0\" in \"uniform:n=0,m=1\"");
  CHECK(error_of("uniform:n=4294967296,m=1") ==
        "--generate: n must be a number from 1 to 4294967295, found \"4294967296\" in "
        "\"uniform:n=4294967296,m=1\"");
  CHECK(error_of("uniform:n=3,m=x") ==
        "--generate: m must be a number from 0 to 1099511627776, found \"x\" in \"uniform:n=3,m=x\"");
  CHECK(error_of("uniform:n=3,m=3,k=1") ==
        "--generate: unknown key \"k\" (known: n, m, seed) in \"uniform:n=3,m=3,k=1\"");
  CHECK(error_of("uniform:n=3,n=3") == "--generate: found n twice, expected once in \"uniform:n=3,n=3\"");
  CHECK(error_of("uniform:n") == "--generate: expected key=value, found \"n\" in \"uniform:n\"");
  CHECK(error_of("kronecker:scale=32") ==
        "--generate: scale must be a number from 1 to 31, found \"32\" in \"kronecker:scale=32\"");
  CHECK(error_of("grid:width=70000") ==
        "--generate: expected at most 4294967295 nodes, found 70000 x 70000 in \"grid:width=70000\"");
}
