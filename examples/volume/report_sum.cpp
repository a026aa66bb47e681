#include "report_sum.hpp"

#include <set>
#include <utility>

namespace volume {

void add(skel::report& total, skel::report const& next) {
  if (total.ranks == 0) {
    total = next;
    return;
  }
  auto const before = total.tasks + total.failed_tasks.size();
  for (auto f : next.failed_tasks) {
    f.task += before;
    total.failed_tasks.push_back(std::move(f));
  }
  if (next.audit) {
    if (!total.audit) total.audit.emplace();
    total.audit->checked += next.audit->checked;
    total.audit->unchecked += next.audit->unchecked;
    for (auto f : next.audit->at_fault) {
      f.task += before;
      for (auto& [first, last] : f.in_sink) first += before, last += before;
      total.audit->at_fault.push_back(std::move(f));
    }
  }
  double const busy = total.busy_share * total.seconds + next.busy_share * next.seconds;
  total.tasks += next.tasks;
  total.seconds += next.seconds;
  total.busy_share = total.seconds > 0 ? busy / total.seconds : 0;
  total.stopped_early = total.stopped_early || next.stopped_early;
  total.messages += next.messages;
  total.bytes += next.bytes;
  total.tasks_handed_out_again += next.tasks_handed_out_again;
  std::set<int> lost(next.lost_before.begin(), next.lost_before.end());
  lost.insert(next.lost_ranks.begin(), next.lost_ranks.end());
  total.lost_ranks.assign(lost.begin(), lost.end());  // also those lost between two runs
  total.losses = next.losses;
  total.checkpoint = next.checkpoint;
  if (next.steals) total.steals = total.steals.value_or(0) + *next.steals;
  total.per_rank = next.per_rank;
}

}  // namespace volume
