#include "generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "program/text.hpp"
#include "skel/error.hpp"

namespace components {

namespace {

constexpr std::uint64_t most_edges = std::uint64_t{1} << 40;

[[noreturn]] void refuse(std::string_view spec, std::string const& why) {
  throw skel::usage_error(fmt::format("--generate: {} in \"{}\"", why, spec));
}

// The key=value pairs of a specification. Unknown keys are errors.
class parameters {
 public:
  parameters(std::string_view spec, std::string_view known) : spec_(spec), known_(known) {
    auto rest = spec.substr(std::min(spec.size(), spec.find(':') + 1));
    if (spec.find(':') == std::string_view::npos) rest = {};
    while (!rest.empty()) {
      auto const item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      auto const equals = item.find('=');
      if (equals == std::string_view::npos)
        refuse(spec, fmt::format("expected key=value, found \"{}\"", item));
      if (!values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
        refuse(spec, fmt::format("found {} twice, expected once", item.substr(0, equals)));
    }
  }

  std::optional<std::uint64_t> find(std::string_view key, std::uint64_t least, std::uint64_t most) {
    auto const found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    auto const text = found->second;
    auto const value = skel::program::to_number<std::uint64_t>(text);
    if (!value || *value < least || *value > most)
      refuse(spec_, fmt::format("{} must be a number from {} to {}, found \"{}\"", key, least, most, text));
    values_.erase(found);
    return value;
  }
  std::uint64_t need(std::string_view key, std::uint64_t least, std::uint64_t most) {
    auto const value = find(key, least, most);
    if (!value) refuse(spec_, fmt::format("missing {}", key));
    return *value;
  }
  void end() {
    if (!values_.empty())
      refuse(spec_, fmt::format("unknown key \"{}\" (known: {})", values_.begin()->first, known_));
  }

 private:
  std::string_view spec_, known_;
  std::map<std::string_view, std::string_view> values_;
};

graph_spec parse_uniform(std::string_view spec) {
  parameters p(spec, "n, m, seed");
  graph_spec g{.kind = graph_kind::uniform};
  g.nodes = p.need("n", 1, most_nodes);
  g.edges = p.need("m", 0, most_edges);
  g.seed = p.find("seed", 0, UINT64_MAX).value_or(1);
  p.end();
  return g;
}

graph_spec parse_kronecker(std::string_view spec) {
  parameters p(spec, "scale, degree, seed");
  graph_spec g{.kind = graph_kind::kronecker};
  g.nodes = std::uint64_t{1} << p.need("scale", 1, 31);
  g.edges = g.nodes * p.find("degree", 0, 512).value_or(16);
  g.seed = p.find("seed", 0, UINT64_MAX).value_or(1);
  p.end();
  return g;
}

graph_spec parse_grid(std::string_view spec) {
  parameters p(spec, "width, height, seed");
  graph_spec g{.kind = graph_kind::grid};
  g.width = static_cast<std::uint32_t>(p.need("width", 1, most_nodes));
  auto const height = p.find("height", 1, most_nodes / g.width).value_or(g.width);
  if (height > most_nodes / g.width)
    refuse(spec, fmt::format("expected at most {} nodes, found {} x {}", most_nodes, g.width, height));
  g.nodes = g.width * height;
  g.edges = (g.width - 1) * height + g.width * (height - 1);
  auto const seed = p.find("seed", 0, UINT64_MAX);
  g.shuffled = seed.has_value();
  g.seed = seed.value_or(0);
  p.end();
  return g;
}

// A random permutation of 0 ... n - 1: one of the next power of two, repeated until the value is
// below n.
class permutation {
 public:
  permutation(std::uint64_t n, std::uint64_t seed) : n_(n), of_bits_(bits_of(n), seed) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    do x = of_bits_(x);
    while (x >= n_);
    return x;
  }

 private:
  static unsigned bits_of(std::uint64_t n) {
    unsigned bits = 1;
    while (bits < 63 && (std::uint64_t{1} << bits) < n) ++bits;
    return bits;
  }
  std::uint64_t n_;
  permutation_of_bits of_bits_;
};

void uniform(graph_spec const& g, std::uint64_t first, std::span<edge> edges) {
  auto const key = mix(g.seed);
  for (auto& e : edges) {
    auto const random = mix(key + 2 * first), other = mix(key + 2 * first + 1);
    e = {static_cast<node>(below(random, g.nodes)), static_cast<node>(below(other, g.nodes))};
    ++first;
  }
}

// Each level selects a quarter of the adjacency matrix, with probabilities 0.57, 0.19, 0.19, 0.05
// in units of 2^-32.
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

// Edges along the rows come first, followed by those between rows.
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

graph_spec parse_graph(std::string_view spec) {
  auto const name = spec.substr(0, spec.find(':'));
  if (name == "uniform") return parse_uniform(spec);
  if (name == "kronecker") return parse_kronecker(spec);
  if (name == "grid") return parse_grid(spec);
  throw skel::usage_error(fmt::format(
      "--generate: unknown graph \"{}\"; known: uniform:n=,m=,seed=, kronecker:scale=,degree=,seed=, "
      "grid:width=,height=,seed=",
      spec));
}

std::string to_string(graph_spec const& g) {
  switch (g.kind) {
    case graph_kind::uniform:
      return fmt::format("uniform:n={},m={},seed={}", g.nodes, g.edges, g.seed);
    case graph_kind::kronecker: {
      unsigned scale = 0;
      while ((std::uint64_t{1} << scale) < g.nodes) ++scale;
      return fmt::format("kronecker:scale={},degree={},seed={}", scale, g.edges / g.nodes, g.seed);
    }
    case graph_kind::grid:
      break;
  }
  auto const text = fmt::format("grid:width={},height={}", g.width, g.nodes / g.width);
  return g.shuffled ? fmt::format("{},seed={}", text, g.seed) : text;
}

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

}  // namespace components
