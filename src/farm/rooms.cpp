#include "farm/rooms.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "call/census.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/bytes.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

namespace {

// With fewer compute threads than cores, the other cores are for threads within tasks.
role::task_room room_of_this(context const& ctx) {
  auto const& place = context_access::engine_of(ctx).place;
  return {memory_of_rank(place.on_host.size),
          static_cast<std::uint64_t>(std::max(ctx.threads(), place.cores))};
}

}  // namespace

task_rooms rooms_of_all(context& ctx) {
  auto const mine = room_of_this(ctx);
  if (ctx.size() == 1) return {mine};
  transport::packet said;
  bytes::put_raw(said.body(), mine);
  task_rooms all(static_cast<std::size_t>(ctx.size()));
  for (auto const& s :
       take_census(ctx, {.skeleton = "farm", .name = "rooms", .all_hear = true}, std::move(said))) {
    auto in = s.said.bytes();
    all.at(static_cast<std::size_t>(s.rank)) = bytes::get_raw<role::task_room>(in);
  }
  return all;
}

// Hosts may have the same name, and containers on one host different ones.
std::vector<std::uint64_t> hosts_of_all(context& ctx) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  transport::packet said;
  bytes::put_raw(said.body(), hash_text(ctx.host() + '/' + boot));
  std::vector<std::uint64_t> all;
  auto const read = [&](std::vector<statement_of_rank> const& of) -> std::optional<role::outcome> {
    all.resize(static_cast<std::size_t>(ctx.size()));
    for (auto const& s : of) {
      auto in = s.said.bytes();
      all[static_cast<std::size_t>(s.rank)] = bytes::get_raw<std::uint64_t>(in);
    }
    return std::nullopt;
  };
  take_census(ctx, {.skeleton = "farm", .name = "hosts", .verdict = read}, std::move(said));
  return all;
}

}  // namespace skel::detail
