// Internals of a context for skeletons, transports and tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/team.hpp"
#include "skel/context.hpp"

namespace skel::detail {

struct context_access {
  [[nodiscard]] static context make(std::shared_ptr<engine> from) { return context(std::move(from)); }
  [[nodiscard]] static detail::engine& engine_of(context const& ctx) { return *ctx.engine_; }
  [[nodiscard]] static std::uint64_t id(context const& ctx) { return ctx.id_; }
  /// Whether its calls show progress and record a trace. Those of beside() and of teams do not.
  [[nodiscard]] static bool is_observed(context const& ctx) { return !ctx.beside_ && !ctx.is_team_; }
  /// See context::communicator(). Part of skel::mpi.
  [[nodiscard]] static users_communicator const& communicator_of(context const& ctx);
  [[nodiscard]] static detail::team const& team_of(context const& ctx) { return *ctx.team_; }
  /// As context::team(); the same ranks with another number are another team.
  [[nodiscard]] static context make_team(context const& ctx, std::span<int const> ranks,
                                         std::uint64_t number) {
    return ctx.make_team(ranks, number);
  }
};

}  // namespace skel::detail
