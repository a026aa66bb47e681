// Finds components by graph search, without union-find: the sequential part of [Hyper, §6], and the
// check of labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "edge.hpp"

namespace components {

/// The sequential part of [Hyper, §6]: builds an adjacency list and runs a depth-first search, O(2N
/// + M). Gives the labels of label_components(), five to ten times as slowly.
void search_depth_first(std::span<edge const> edges, std::span<node> label);

/// Checks in O(N + M), with an independent breadth-first search, that `label` holds the smallest
/// node of each node's component:
///  - label[x] <= x, and label[x] is its own label;
///  - both ends of each edge have one label, so the labels are not too fine;
///  - a spanning forest of N - c edges of the graph joins each node to its label, c being the number of
///    labels, so they are not too coarse.
/// Returns a description of the first fault, or nothing.
[[nodiscard]] std::optional<std::string> find_fault(std::span<edge const> edges, std::span<node const> label);

/// The number of nodes that are their own label.
[[nodiscard]] std::uint64_t count_components(std::span<node const> label);

}  // namespace components
