#include "peers.hpp"

namespace peers {

namespace {

node find(node* parent, node x) {
  while (parent[x] != x) {
    parent[x] = parent[parent[x]];
    x = parent[x];
  }
  return x;
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

}  // namespace peers
