#include "depth_first.hpp"

#include <vector>

#include "adjacency.hpp"

namespace skel::components {

void search_depth_first(std::span<edge const> edges, std::span<node> label) {
  adjacency<std::uint64_t> const neighbours(edges, label.size());
  auto const unseen = static_cast<node>(most_nodes);  // no node has this number
  for (auto& l : label) l = unseen;
  std::vector<node> path;
  for (std::size_t start = 0; start < label.size(); ++start) {
    if (label[start] != unseen) continue;
    auto const root = static_cast<node>(start);  // the first to be visited is the smallest
    label[root] = root;
    path.push_back(root);
    while (!path.empty()) {
      auto const x = path.back();
      path.pop_back();
      for (auto const y : neighbours.of(x)) {
        if (label[y] != unseen) continue;
        label[y] = root;
        path.push_back(y);
      }
    }
  }
}

}  // namespace skel::components
