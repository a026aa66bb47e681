#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "brute_force.hpp"
#include "program/failure.hpp"

namespace volume {

double allowed_error(specification const& spec) {
  return (spec.light ? 2 : 1) / 255.0 + 1.01 * (1 - spec.visibility_limit);
}

std::uint64_t verify(volume_data::grid const& grid, prepared_volume const& volume, specification const& spec,
                     camera const& view, picture::transparent_image const& picture) {
  constexpr std::uint64_t samples = 499;  // a prime, so that the samples cover all columns
  constexpr int steps = 64;               // per cell
  auto const all = static_cast<std::uint64_t>(view.width) * static_cast<std::uint64_t>(view.height);
  double const allowed = allowed_error(spec);
  for (std::uint64_t k = 0; k < std::min(samples, all); ++k) {
    auto const i = all <= samples ? k : k * all / samples;
    auto const x = i % static_cast<std::uint64_t>(view.width), y = i / static_cast<std::uint64_t>(view.width);
    auto const ray = view.through(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
    auto const expected = brute_force(grid, spec, volume.mapping().knots(), ray, view.parallel, steps);
    for (std::size_t c = 0; c < 4; ++c) {
      auto const got = static_cast<double>(picture.rgba[4 * i + c]);
      if (!(std::abs(got - expected[c]) <= allowed))
        throw skel::program::verification_error(
            fmt::format("verification failed: pixel ({}, {}): {} is {:.6f}, expected {:.6f} by brute force "
                        "(tolerance {:.6f})",
                        x, y, c == 3 ? "opacity" : "colour", got, expected[c], allowed));
    }
  }
  return std::min(samples, all);
}

}  // namespace volume
