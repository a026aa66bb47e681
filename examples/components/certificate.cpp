#include "certificate.hpp"

#include <fmt/format.h>

#include <vector>

#include "adjacency.hpp"

namespace skel::components {

namespace {

std::optional<std::string> fault_of_labels(std::span<node const> label) {
  for (std::size_t x = 0; x < label.size(); ++x) {
    if (label[x] > x) return fmt::format("node {} has the label {}, which is larger", x, label[x]);
    if (label[label[x]] != label[x])
      return fmt::format("node {} has the label {}, whose own label is {}", x, label[x], label[label[x]]);
  }
  return std::nullopt;
}

// Edges of a forest in which each node reaches its label; `lost` is a node that does not.
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
  if (forest != needed) return fmt::format("a spanning forest has {} edges, not {}", needed, forest);
  return std::nullopt;
}

}  // namespace skel::components
