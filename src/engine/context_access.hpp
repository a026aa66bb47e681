// What skeletons, transports and tests reach of a context, and users do not.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "skel/context.hpp"

namespace skel::detail {

struct context_access {
  [[nodiscard]] static context make(std::shared_ptr<engine> from) { return context(std::move(from)); }
  [[nodiscard]] static detail::engine& engine_of(context const& ctx) { return *ctx.engine_; }
  [[nodiscard]] static std::uint32_t id(context const& ctx) { return ctx.id_; }
  /// Whether context::beside() made it.
  [[nodiscard]] static bool is_beside(context const& ctx) { return ctx.beside_; }
  /// The ranks of the engine's transport, the root first.
  [[nodiscard]] static std::vector<int> const& team(context const& ctx) { return ctx.team_; }
};

}  // namespace skel::detail
