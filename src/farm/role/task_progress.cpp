#include "farm/role/task_progress.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

task_progress::task_progress(farm_task_list const& list)
    : available_(list.tasks.value_or(0)), source_ended_(list.tasks.has_value()) {
  for (auto const& r : list.restored) {
    recorded_.insert(r);
    restored_end_ = std::max(restored_end_, r.last() + 1);
  }
}

range_list task_progress::supplied(std::uint64_t available, bool ended) {
  source_ended_ = source_ended_ || ended;
  if (available <= available_) return {};
  return recorded_.missing(std::exchange(available_, available), available, {});
}

bool task_progress::exist(range_list const& ranges) const {
  return std::all_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.last() < available_; });
}

std::optional<task_id> task_progress::unknown_restored() const {
  if (restored_end_ <= available_) return std::nullopt;
  return restored_end_ - 1;
}

void task_progress::erase(range_list const& tasks) {
  for (auto const& r : tasks)
    for (std::uint64_t i = 0; i < r.count; ++i) recorded_.erase(r[i]);
}

void task_progress::leave_out(task_id task) {
  recorded_.insert(task);
  ++left_out_;
}

range_list task_progress::not_recorded(range_list const& ranges) const {
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

void task_progress::sunk(std::uint64_t count, task_id next) {
  sunk_ = count;
  sink_next_ = next;
}

}  // namespace skel::role
