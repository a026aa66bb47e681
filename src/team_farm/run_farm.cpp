#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "call/census.hpp"
#include "engine/context_access.hpp"
#include "farm/run.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

namespace {

using task_rooms = std::vector<role::task_room>;

// With fewer compute threads than cores, the other cores are for threads within tasks.
role::task_room room_of_this(context const& ctx) {
  auto const& place = context_access::engine_of(ctx).place;
  return {memory_of_rank(place.on_host.size),
          static_cast<std::uint64_t>(std::max(ctx.threads(), place.cores))};
}

// What each rank has for its tasks, its share of the host; a rank that is lost has nothing. A call of its
// own.
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

// On the root, a number by rank, the same for two ranks on one host; elsewhere nothing. Hosts may have the
// same name, and containers on one host different ones.
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

template <class Run>
report run_to_the_end(Run& run) {
  report r;
  try {
    r = run.execute();
  } catch (...) {
    run.sink().save_last();
    throw;
  }
  run.sink().save_last();
  run.throw_if_left();
  r.checkpoint = run.sink().checkpoint_costs();
  return r;
}

}  // namespace

report run_farm(context& ctx, farm_work& work, farm_policy const& policy, farm_options const& options) {
  if (forms_teams(work.traits(), options, ctx.size())) {
    team_farm_run run(ctx, work, policy, options,
                      options.task.team_on_one_host ? hosts_of_all(ctx) : std::vector<std::uint64_t>{});
    return run_to_the_end(run);
  }
  farm_run run(ctx, work, policy, options, options.task.needs ? rooms_of_all(ctx) : task_rooms());
  auto r = run_to_the_end(run);
  run.finish(r);
  return r;
}

}  // namespace skel::detail
