#include <utility>

#include "farm/rooms.hpp"
#include "farm/run.hpp"
#include "run.hpp"

namespace skel::detail {

namespace {

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
