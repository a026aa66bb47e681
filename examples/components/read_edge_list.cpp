// SNAP's edge lists and GAPBS's .el.
#include <fmt/format.h>

#include <algorithm>

#include "graph_reader.hpp"
#include "text_lines.hpp"

namespace skel::components {

namespace {

struct promise {
  std::uint64_t edges = 0, line = 0;
};

// SNAP: "# Nodes: 4039 Edges: 88234". Its number of nodes counts those that occur.
std::optional<promise> edges_promised(text_lines& lines) {
  auto const line = lines.number();
  for (auto word = lines.word(); !word.empty(); word = lines.word()) {
    if (word != "Edges:") continue;
    return promise{lines.integer("a number of edges", 0, UINT64_MAX), line};
  }
  return std::nullopt;
}

}  // namespace

graph read_edge_list(input& in, node_limit nodes) {
  constexpr std::string_view what = "a node number";
  auto const most = nodes.value_or(most_nodes) - 1;
  graph g;
  node largest = 0;
  std::optional<promise> promised;
  text_lines lines(in);
  while (lines.next()) {
    auto const text = lines.text();
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    if (text[first] == '#' || text[first] == '%') {
      if (text[first] == '#' && !promised) promised = edges_promised(lines);
      continue;
    }
    auto const u = static_cast<node>(lines.integer(what, 0, most));
    auto const v = static_cast<node>(lines.integer(what, 0, most));
    for (int more = 0; lines.text().find_first_not_of(" \t\r") != std::string_view::npos; ++more) {
      if (more == 2) lines.fail_at_word("2 to 4 numbers", lines.word());
      lines.skip_number("a number after the two nodes");
    }
    largest = std::max({largest, u, v});
    g.edges.push_back({u, v});
  }
  if (promised && promised->edges != g.edges.size())
    lines.fail(fmt::format("{} edges, expected {} as line {} says", g.edges.size(), promised->edges,
                           promised->line));
  g.nodes = nodes.value_or(g.edges.empty() ? 0 : std::uint64_t{largest} + 1);
  return g;
}

}  // namespace skel::components
