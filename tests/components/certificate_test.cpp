// The certificate accepts the right labels and rejects all others.
#include "catch.hpp"
#include "generate.hpp"
#include "reference.hpp"
#include "search.hpp"

using namespace components;

TEST_CASE("faults of labels are described") {
  std::vector<edge> const edges{{0, 1}, {1, 2}, {4, 5}};
  auto const fault = [&](std::vector<node> const& labels) {
    return find_fault(edges, labels).value_or("none");
  };
  CHECK(fault({0, 0, 0, 3, 4, 4}) == "none");
  CHECK(fault({0, 0, 0, 3, 5, 5}) == "node 4 has the label 5, which is larger");
  CHECK(fault({0, 0, 1, 3, 4, 4}) == "node 2 has the label 1, whose own label is 0");
  CHECK(fault({0, 0, 2, 3, 4, 4}) == "the edge 1 2 joins the labels 0 and 2");
  CHECK(fault({0, 0, 0, 0, 4, 4}) == "no path leads from node 3 to its label 0");
  CHECK(fault({0, 0, 0, 3, 3, 3}) == "no path leads from node 4 to its label 3");
  CHECK(fault({0, 0, 0, 3, 9, 9}) == "node 4 has the label 9, which is larger");
}

TEST_CASE("wrong labels are refused") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto const g = parse_graph("uniform:n=40,m=25,seed=" + std::to_string(seed));
    auto const edges = reference::edges_of(g);
    auto labels = reference::labels(edges, g.nodes);
    CHECK(!find_fault(edges, labels));
    auto const x = below(mix(seed), g.nodes), other = below(mix(seed + 1000), g.nodes);
    if (labels[x] == other) continue;
    labels[x] = static_cast<node>(other);
    CHECK(find_fault(edges, labels));
    // Two components that share one label consistently.
    labels = reference::labels(edges, g.nodes);
    auto const from = labels[x], to = labels[other];
    if (from <= to) continue;
    for (auto& l : labels) l = l == from ? to : l;
    CHECK(find_fault(edges, labels));
  }
}
