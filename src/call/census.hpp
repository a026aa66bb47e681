// Calls without tasks: every rank says a few numbers, and the root hears all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skel/context.hpp"

namespace skel::detail {

/// What a rank has said.
struct statement_of_rank {
  int rank = 0;
  std::vector<std::uint64_t> numbers{};
};

/// The same on every rank but for `refuses`, which is the root's.
struct census {
  std::string skeleton;
  std::string name{};
  /// Looks at what the living ranks have said, in the order of ranks. A rank and a text: the call is a
  /// usage_error on all ranks.
  std::function<std::optional<std::pair<int, std::string>>(std::vector<statement_of_rank> const&)> refuses{};
  bool all_hear = false;  ///< all ranks are told what each has said
};

/// Collective, a call of its own. Returns what all have said, where all hear it.
std::vector<statement_of_rank> take_census(context& ctx, census const& c, std::vector<std::uint64_t> mine);

}  // namespace skel::detail
