// Results are recorded once.
#include <algorithm>

#include "farm/role/ledger.hpp"

namespace skel::role {

range_list ledger::not_recorded(range_list const& ranges) const {
  range_list left;
  for (auto const& r : ranges) {
    if (!recorded_.intersects(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i])) append(left, {r[i], 1, 1});
  }
  return left;
}

// Task numbers come from another process: they must exist before they become bits of a set.
bool ledger::tasks_exist(std::size_t index, range_list const& ranges, actions& out) {
  if (std::all_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.last() < available_; }))
    return true;
  abort("rank " + std::to_string(config_.ranks[index]) + " speaks of tasks that do not exist", out);
  return false;
}

void ledger::record_all(range_list const& ranges, actions& out) {
  for (auto const& r : ranges)
    for (auto const& fresh : recorded_.insert(r)) {
      take_from_pool(fresh);
      out.push_back(record{fresh});
      out.push_back(forget{fresh});
    }
}

// One value for all of `ranges`: if some have counted already, none may. The others are done again.
void ledger::record_merged(range_list const& ranges, actions& out) {
  task_set seen;
  bool once = true;
  for (auto const& r : ranges) {
    once = once && !recorded_.intersects(r);
    if (handed_out_again_ > 0) once = once && count_tasks(seen.insert(r)) == r.count;
  }
  if (once) {
    record_all(ranges, out);
    return;
  }
  range_list again;
  task_set chosen;
  task_set pooled;
  for (auto const& r : pool_) pooled.insert(r);
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i]) && !pooled.contains(r[i]) && chosen.insert(r[i]))
        append(again, {r[i], 1, 1});
  put_back(again);
  serve_waiting(out);
  push_to_closed(out);
}

}  // namespace skel::role
