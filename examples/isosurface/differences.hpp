// Finite differences along one axis, on unevenly spaced points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace isosurface {

enum class difference_rule : std::uint8_t {
  paper,   ///< three points, two at the ends, with first order there [Bajaj93, §2]
  second,  ///< three points everywhere: second order, also at the ends
  fourth   ///< five points everywhere: fourth order
};
/// Parses "paper", "2" or "4".
[[nodiscard]] difference_rule difference_rule_named(std::string_view name);

/// The derivative at a point as a weighted sum of the values at `count` points from `first`.
struct stencil {
  std::size_t first = 0;
  std::size_t count = 0;
  std::array<double, 5> weights{};

  [[nodiscard]] std::size_t end() const { return first + count; }
};

/// The derivative at point i of the polynomial through the rule's points: those around i, at the
/// ends the nearest, or all points if there are fewer. `at` must be increasing and have at least
/// two points.
[[nodiscard]] stencil difference(std::span<double const> at, std::size_t i, difference_rule rule);

}  // namespace isosurface
