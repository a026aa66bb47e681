// The entry of a call among the calls of its context.
#pragma once

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "engine/team.hpp"

namespace skel::detail {

/// Blocks other calls on the context while it exists.
struct call_entry {
  explicit call_entry(context& of)
      : ctx(of), ranks(context_access::team_of(of)), slot(of), key{context_access::id(of), slot.number()} {}
  [[nodiscard]] bool has_lost(int rank) const {
    return context_access::engine_of(ctx).wires().is_lost(ranks.to_wire(rank));
  }

  context& ctx;
  team const& ranks;  // the ranks of the call are its ranks
  call_slot slot;
  run_key key;
};

}  // namespace skel::detail
