// How the time of a task falls with the ranks of its team, measured.
//
//     auto const law = skel::sample_scaling(ctx, simulate, members.front(), 4, 16);
//     auto const seconds = [&](skel::task_id, int ranks) { return law.seconds(ranks); };
//     skel::farm(ctx, skel::replicated(members), simulate, skel::into(means),
//                {.task = {.team_size = skel::team_size::chosen(seconds)}});
#pragma once

#include <algorithm>

#include "skel/context.hpp"
#include "skel/farm.hpp"
#include "skel/source.hpp"
#include "skel/team_size.hpp"

namespace skel {

/// Runs f(team, task) on a team of `ranks_a` ranks, then on one of `ranks_b`, or of all ranks of `ctx` if
/// these are fewer. Returns, on the root, the law through both times; a serial task if both teams are the
/// same. On other ranks, which choose no sizes, it returns an empty law.
///
/// Collective. The results of `f` are dropped. Throws usage_error if a number is below 1 or both are the
/// same, otherwise as farm.
template <class F, class Task>
  requires detail::takes_team<F, Task>
[[nodiscard]] amdahl sample_scaling(context& ctx, F const& f, Task const& task, int ranks_a, int ranks_b) {
  static_cast<void>(amdahl::through(ranks_a, 1, ranks_b, 1));  // throws for wrong numbers
  auto const seconds = [&](int ranks) {
    auto const run = farm(
        ctx, indices(1), [&](context& team, task_id) { static_cast<void>(f(team, task)); }, [](task_id) {},
        {.label = "sample of the task", .task = {.team_size = ranks}});
    double longest = 0;  // of the ranks of the team, without the wait for ranks that come late to this call
    for (auto const& rank : run.report.per_rank) longest = std::max(longest, rank.busy_seconds);
    return longest;
  };
  int const a = std::min(ranks_a, ctx.size()), b = std::min(ranks_b, ctx.size());
  double const first = seconds(a);
  if (!ctx.is_root()) {
    if (a != b) static_cast<void>(seconds(b));
    return {};
  }
  return a == b ? amdahl{first, 0} : amdahl::through(a, first, b, seconds(b));
}

}  // namespace skel
