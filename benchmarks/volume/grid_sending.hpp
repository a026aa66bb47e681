// Sends a grid to all ranks: by one message to each rank in turn, like ISIS 3.0.7 ([Storm95,
// §6.3]), or by skel::broadcast. Works over any context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"

namespace grid_sending {

using grid = std::vector<std::uint8_t>;

inline grid some_grid(std::size_t bytes) {
  grid g(bytes);
  for (std::size_t i = 0; i < bytes; ++i) g[i] = static_cast<std::uint8_t>(i * 131 >> 3);
  return g;
}

/// One task per worker, the grid; an idle worker requests one. Returns the seconds.
inline double in_series(skel::context& ctx, std::size_t bytes) {
  auto const copies = static_cast<std::uint64_t>(ctx.size() - 1);
  auto const expected = some_grid(bytes);
  auto const grids = [&] {
    return std::views::iota(std::uint64_t{0}, copies) |
           std::views::transform([&](std::uint64_t) { return grid(expected); });
  };
  std::uint64_t right = 0;
  skel::farm_options options;
  options.root_works = false;
  auto const run = skel::farm(
                       ctx, skel::on_root(grids), [&](grid const& g) { return g == expected; },
                       skel::schedule::first_come{.chunk = 1, .threshold = {}, .early = false},
                       [&](skel::task_id, bool same) { right += same ? 1 : 0; }, options)
                       .report;
  if (ctx.is_root() && right != copies) throw skel::error("a grid did not arrive");
  return run.seconds;
}

/// Returns the seconds of the call on this rank, by the clock `now`.
template <class Now>
double by_broadcast(skel::context& ctx, std::size_t bytes, Now const& now) {
  auto const expected = some_grid(bytes);
  double const begin = now();
  auto const got = skel::broadcast(ctx, skel::on_root([&] { return grid(expected); })).value;
  double const end = now();
  if (!got || *got != expected) throw skel::error("a grid did not arrive");
  return end - begin;
}

template <class Now>
double send(skel::context& ctx, std::size_t bytes, std::string const& how, Now const& now) {
  if (how == "series") return in_series(ctx, bytes);
  if (how == "broadcast") return by_broadcast(ctx, bytes, now);
  throw skel::usage_error("expected series or broadcast, found \"" + how + "\"");
}

}  // namespace grid_sending
