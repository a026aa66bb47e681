#include "uts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace search {

tree_counts operator+(tree_counts const& a, tree_counts const& b) {
  return {a.nodes + b.nodes, a.leaves + b.leaves, std::max(a.depth, b.depth)};
}

std::string to_string(tree_counts const& c) {
  return fmt::format("{} nodes, depth {}, {} leaves", c.nodes, c.depth, c.leaves);
}

double expected_children(uts_parameters const& p, unsigned depth) {
  double const b = p.branching;
  if (depth == 0) return b;
  double const at = depth;
  double const limit = p.depth;
  switch (p.shape) {
    case tree_shape::linear:
      return b * (1.0 - at / limit);
    case tree_shape::expdec:
      return b * std::pow(at, -std::log(b) / std::log(limit));
    case tree_shape::cyclic:
      return depth > 5 * p.depth ? 0.0 : std::pow(b, std::sin(2.0 * std::numbers::pi * at / limit));
    case tree_shape::fixed:
      return depth < p.depth ? b : 0.0;
  }
  return 0;
}

uts_tree::uts_tree(uts_parameters const& parameters) : parameters_(parameters) {
  for (unsigned d = 0; d < remembered_depths_; ++d)
    log_fail_.push_back(std::log(1.0 - 1.0 / (1.0 + expected_children(parameters_, d))));
}

uts_node uts_tree::root() const {
  std::array<std::uint8_t, 20> message{};
  detail::put_big_endian(message.data() + 16, parameters_.seed);
  uts_node n;
  detail::sha1(message, n.state);
  return n;
}

}  // namespace search
