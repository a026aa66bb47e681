// Builds the report and the state description of a ring_steal call.
#include <numeric>

#include "base/format.hpp"
#include "run.hpp"

namespace skel::detail {

void steal_run::describe(report& r) const {
  r.skeleton = "ring_steal";
  r.schedule = detail::format("ring:take={}", to_string(how_.take));
  if (how_.order != schedule::ring_order::doubling)
    detail::append_format(r.schedule, ",order={}", to_string(how_.order));
  r.results = "merged";
  r.steals = steals_ + role_.search().steals();
  r.tasks_handed_out_again = taken_back_ + role_.loans().taken_back();
  r.lost_ranks = lost_ranks();
}

void steal_run::describe(observe::progress_state& s, bool last) const {
  s.done = tasks_run() + std::accumulate(tasks_heard_.begin(), tasks_heard_.end(), std::uint64_t{0});
  if (recorder_) s.done += recorder_->costs().restored_tasks;
  if (last && outcome_) s.done = outcome_->tasks;
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string steal_run::state() const {
  std::string text =
      detail::format("rank {}: ring_steal {} (context {}): {} tasks run, {} debts, {} loans", rank_,
                     key_.number, key_.context, tasks_run(), role_.debts().size(), role_.loans().size());
  if (auto const current = role_.debts().current())
    text += detail::format(", {} threads at work", running_);
  else if (draining_)
    text += ", draining";
  else if (auto const victim = role_.search().asked())
    text += detail::format(", has asked rank {}", *victim);
  if (!role_.thieves().empty()) text += detail::format(", {} thieves wait", role_.thieves().size());
  return text + waits_to_stop();
}

}  // namespace skel::detail
