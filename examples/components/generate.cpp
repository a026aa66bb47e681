#include "generate.hpp"

#include <bit>

#include "random_hash.hpp"

namespace skel::components {

namespace {

void uniform(graph_spec const& g, std::uint64_t first, std::span<edge> edges) {
  auto const key = mix(g.seed);
  for (auto& e : edges) {
    auto const random = mix(key + 2 * first), other = mix(key + 2 * first + 1);
    e = {static_cast<node>(below(random, g.nodes)), static_cast<node>(below(other, g.nodes))};
    ++first;
  }
}

// Per level a quarter of the adjacency matrix, with probabilities 0.57, 0.19, 0.19, 0.05 in units of 2^-32.
edge kronecker_edge(std::uint64_t key, std::uint64_t index, unsigned scale) {
  constexpr std::uint32_t a = 2448131359, ab = 3264175145, abc = 4080218931;
  std::uint64_t random = 0;
  node u = 0, v = 0;
  for (unsigned level = 0; level < scale; ++level) {
    if (level % 2 == 0) random = mix(mix(key + index) + level);
    auto const draw = static_cast<std::uint32_t>(level % 2 == 0 ? random : random >> 32);
    u = 2 * u + static_cast<node>(draw >= ab);
    v = 2 * v + static_cast<node>((draw >= a) & (draw < ab)) + static_cast<node>(draw >= abc);
  }
  return {u, v};
}

void kronecker(graph_spec const& g, std::uint64_t first, std::span<edge> edges) {
  auto const scale = static_cast<unsigned>(std::bit_width(g.nodes) - 1);
  auto const key = mix(g.seed);
  permutation_of_bits const renumber(scale, g.seed);
  for (auto& e : edges) {
    auto const drawn = kronecker_edge(key, first++, scale);
    e = {static_cast<node>(renumber(drawn.u)), static_cast<node>(renumber(drawn.v))};
  }
}

// First the edges along the rows, then those between them.
edge grid_edge(graph_spec const& g, std::uint64_t index) {
  std::uint64_t const width = g.width, height = g.nodes / width, along = (width - 1) * height;
  if (index >= along) {
    auto const u = index - along;
    return {static_cast<node>(u), static_cast<node>(u + width)};
  }
  auto const u = index / (width - 1) * width + index % (width - 1);
  return {static_cast<node>(u), static_cast<node>(u + 1)};
}

void grid(graph_spec const& g, std::uint64_t first, std::span<edge> edges) {
  permutation const shuffle(g.edges, g.seed);
  for (auto& e : edges) {
    e = grid_edge(g, g.shuffled ? shuffle(first) : first);
    ++first;
  }
}

}  // namespace

void generate(graph_spec const& spec, std::uint64_t first, std::span<edge> edges) {
  switch (spec.kind) {
    case graph_kind::uniform:
      return uniform(spec, first, edges);
    case graph_kind::kronecker:
      return kronecker(spec, first, edges);
    case graph_kind::grid:
      return grid(spec, first, edges);
  }
}

}  // namespace skel::components
