#include "search.hpp"

#include <fmt/format.h>

#include <vector>

#include "big_array.hpp"

namespace components {

namespace {

// The neighbours of all nodes, node by node (compressed sparse rows).
// `Offset` holds twice the number of edges: 4 bytes suffice for two thousand million and halve the
// memory.
template <class Offset>
class adjacency {
 public:
  adjacency(std::span<edge const> edges, std::uint64_t nodes)
      : offsets_(nodes + 1), neighbours_(2 * edges.size()) {
    for (auto& o : offsets_) o = 0;
    for (auto const& e : edges) ++offsets_[e.u], ++offsets_[e.v];
    Offset sum = 0;
    for (auto& o : offsets_) sum += o, o = sum;
    for (auto const& e :
         edges) {  // filled from the back, so that every offset ends at its node's first neighbour
      neighbours_[--offsets_[e.u]] = e.v;
      neighbours_[--offsets_[e.v]] = e.u;
    }
  }
  [[nodiscard]] std::span<node const> of(node x) const {
    return neighbours_.span().subspan(offsets_[x], offsets_[x + std::uint64_t{1}] - offsets_[x]);
  }

 private:
  big_array<Offset> offsets_;
  big_array<node> neighbours_;
};

std::optional<std::string> fault_of_labels(std::span<node const> label) {
  for (std::size_t x = 0; x < label.size(); ++x) {
    if (label[x] > x) return fmt::format("node {} has the label {}, which is larger", x, label[x]);
    if (label[label[x]] != label[x])
      return fmt::format("node {} has the label {}, whose own label is {}", x, label[x], label[label[x]]);
  }
  return std::nullopt;
}

// Counts the edges of a forest in which each node reaches its label; `lost` is a node that does
// not.
template <class Offset>
std::uint64_t span_forest(adjacency<Offset> const& neighbours, std::span<node const> label,
                          std::optional<node>& lost) {
  std::vector<bool> reached(label.size());
  std::vector<node> front, next;
  std::uint64_t forest = 0;
  for (std::size_t root = 0; root < label.size(); ++root) {
    if (label[root] != root) continue;
    reached[root] = true;
    front.assign(1, static_cast<node>(root));
    for (; !front.empty(); front.swap(next), next.clear()) {
      for (auto const x : front) {
        for (auto const y : neighbours.of(x)) {
          if (reached[y]) continue;
          reached[y] = true;
          ++forest;
          next.push_back(y);
        }
      }
    }
  }
  for (std::size_t x = 0; x < label.size() && !lost; ++x)
    if (!reached[x]) lost = static_cast<node>(x);
  return forest;
}

}  // namespace

void search_depth_first(std::span<edge const> edges, std::span<node> label) {
  adjacency<std::uint64_t> const neighbours(edges, label.size());
  auto const unseen = static_cast<node>(most_nodes);  // no node has this number
  for (auto& l : label) l = unseen;
  std::vector<node> path;
  for (std::size_t start = 0; start < label.size(); ++start) {
    if (label[start] != unseen) continue;
    auto const root = static_cast<node>(start);  // the first visited node is the smallest
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

std::uint64_t count_components(std::span<node const> label) {
  std::uint64_t count = 0;
  for (std::size_t x = 0; x < label.size(); ++x) count += static_cast<std::uint64_t>(label[x] == x);
  return count;
}

std::optional<std::string> find_fault(std::span<edge const> edges, std::span<node const> label) {
  if (auto fault = fault_of_labels(label)) return fault;
  for (auto const& e : edges) {
    if (label[e.u] != label[e.v])
      return fmt::format("the edge {} {} joins the labels {} and {}", e.u, e.v, label[e.u], label[e.v]);
  }
  std::optional<node> lost;
  auto const forest = 2 * edges.size() <= UINT32_MAX
                          ? span_forest(adjacency<std::uint32_t>(edges, label.size()), label, lost)
                          : span_forest(adjacency<std::uint64_t>(edges, label.size()), label, lost);
  if (lost) return fmt::format("no path leads from node {} to its label {}", *lost, label[*lost]);
  auto const needed = label.size() - count_components(label);
  if (forest != needed) return fmt::format("a spanning forest has {1} edges, expected {0}", needed, forest);
  return std::nullopt;
}

}  // namespace components
