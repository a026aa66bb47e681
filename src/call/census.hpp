// Calls without tasks: every rank makes a statement, and the root receives all of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/outcome.hpp"
#include "skel/context.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// The statement of one rank: any bytes.
struct statement_of_rank {
  int rank = 0;
  transport::packet said{};
};

/// The same on every rank, except `verdict`, which only the root uses.
struct census {
  std::string skeleton;
  std::string name{};
  std::string types{};  ///< as call_description::add_types() has them
  /// Called on the root, by the caller's thread, without the engine's lock: checks the statements of all
  /// ranks that made one before they were lost, or live, in the order of ranks. If it returns an outcome, the
  /// call fails with that on all ranks. Must not throw.
  std::function<std::optional<role::outcome>(std::vector<statement_of_rank> const&)> verdict{};
  bool all_hear = false;   ///< all ranks receive every statement
  bool is_needed = false;  ///< what a rank states cannot be made again: it does not retire before it has
};

/// Collective, a call of its own. Returns all statements if `all_hear` is true.
std::vector<statement_of_rank> take_census(context& ctx, census const& c, transport::packet mine);

}  // namespace skel::detail
