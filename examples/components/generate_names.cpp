// --generate and back.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

#include "generate.hpp"
#include "skel/error.hpp"

namespace skel::components {

namespace {

constexpr std::uint64_t most_edges = std::uint64_t{1} << 40;

[[noreturn]] void refuse(std::string_view spec, std::string const& why) {
  throw usage_error(fmt::format("--generate: {} in \"{}\"", why, spec));
}

// The key=value pairs of a specification; what is not asked for is an error.
class parameters {
 public:
  parameters(std::string_view spec, std::string_view known) : spec_(spec), known_(known) {
    auto rest = spec.substr(std::min(spec.size(), spec.find(':') + 1));
    if (spec.find(':') == std::string_view::npos) rest = {};
    while (!rest.empty()) {
      auto const item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      auto const equals = item.find('=');
      if (equals == std::string_view::npos) refuse(spec, fmt::format("expected key=value, got \"{}\"", item));
      if (!values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
        refuse(spec, fmt::format("{} stands twice", item.substr(0, equals)));
    }
  }

  std::optional<std::uint64_t> find(std::string_view key, std::uint64_t least, std::uint64_t most) {
    auto const found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    auto const text = found->second;
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      refuse(spec_, fmt::format("{} must be a number from {} to {}, got \"{}\"", key, least, most, text));
    values_.erase(found);
    return value;
  }
  std::uint64_t need(std::string_view key, std::uint64_t least, std::uint64_t most) {
    auto const value = find(key, least, most);
    if (!value) refuse(spec_, fmt::format("{} is missing", key));
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
    refuse(spec, fmt::format("at most {} nodes, got {} x {}", most_nodes, g.width, height));
  g.nodes = g.width * height;
  g.edges = (g.width - 1) * height + g.width * (height - 1);
  auto const seed = p.find("seed", 0, UINT64_MAX);
  g.shuffled = seed.has_value();
  g.seed = seed.value_or(0);
  p.end();
  return g;
}

}  // namespace

graph_spec parse_graph(std::string_view spec) {
  auto const name = spec.substr(0, spec.find(':'));
  if (name == "uniform") return parse_uniform(spec);
  if (name == "kronecker") return parse_kronecker(spec);
  if (name == "grid") return parse_grid(spec);
  throw usage_error(fmt::format(
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

}  // namespace skel::components
