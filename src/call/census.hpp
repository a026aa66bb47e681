// Calls without tasks: every rank states a few numbers, and the root receives all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skel/context.hpp"

namespace skel::detail {

/// The statement of one rank.
struct statement_of_rank {
  int rank = 0;
  std::vector<std::uint64_t> numbers{};
};

/// The same on every rank, except `refuses`, which only the root uses.
struct census {
  std::string skeleton;
  std::string name{};
  /// Checks the statements of the living ranks, in the order of ranks. If it returns a rank and a
  /// text, the call throws usage_error on all ranks.
  std::function<std::optional<std::pair<int, std::string>>(std::vector<statement_of_rank> const&)> refuses{};
  bool all_hear = false;  ///< all ranks receive every statement
};

/// Collective, a call of its own. Returns all statements if `all_hear` is true.
std::vector<statement_of_rank> take_census(context& ctx, census const& c, std::vector<std::uint64_t> mine);

}  // namespace skel::detail
