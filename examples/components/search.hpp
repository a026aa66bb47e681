// Components by searching the graph, without union-find: the sequential part of [Hyper, §6], and the check of
// labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "edge.hpp"

namespace components {

/// The sequential part of [Hyper, §6]: an adjacency list, then a depth-first search, O(2N + M). Labels as
/// label_components() gives them, five to ten times as slowly.
void search_depth_first(std::span<edge const> edges, std::span<node> label);

/// Checks in O(N + M), with a breadth-first search of its own, that `label` holds the smallest node of each
/// node's component:
///  - label[x] <= x, and label[x] is its own label;
///  - both ends of each edge have one label, so the labels are not too fine;
///  - a spanning forest of N - c edges of the graph joins each node to its label, c being the number of
///    labels, so they are not too coarse.
/// Returns what is wrong, or nothing.
[[nodiscard]] std::optional<std::string> find_fault(std::span<edge const> edges, std::span<node const> label);

/// Nodes that are their own label.
[[nodiscard]] std::uint64_t count_components(std::span<node const> label);

}  // namespace components
