// What each rank of a farm has for its tasks: its share of the host.
#pragma once

#include <cstdint>
#include <vector>

#include "farm/role/config.hpp"
#include "skel/context.hpp"

namespace skel::detail {

using task_rooms = std::vector<role::task_room>;

/// Collective, a call of its own. The rooms by rank; a rank that is lost has none.
[[nodiscard]] task_rooms rooms_of_all(context& ctx);
/// Likewise a call. On the root, a number by rank, the same for two ranks on one host; elsewhere nothing.
[[nodiscard]] std::vector<std::uint64_t> hosts_of_all(context& ctx);

}  // namespace skel::detail
