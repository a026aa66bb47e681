#include "farm/role/task_pool.hpp"

#include <algorithm>
#include <ranges>

namespace skel::role {

void task_pool::add(range_list const& fresh) {
  for (auto const& r : fresh) {
    if (!ranges_.empty() && ranges_.back().stride == 1 && r.stride == 1 &&
        ranges_.back().last() + 1 == r.first)
      ranges_.back().count += r.count;
    else
      ranges_.push_back(r);
    tasks_ += r.count;
    added_ += r.count;
  }
}

void task_pool::put_back(range_list const& ranges) {
  for (auto const& r : std::ranges::reverse_view(ranges)) {
    ranges_.push_front(r);  // an ordered sink waits for the tasks given first
    tasks_ += r.count;
  }
}

void task_pool::remove(task_range const& range, task_set const& recorded) {
  auto const apart = [&](task_range const& r) { return r.last() < range.first || r.first > range.last(); };
  if (std::all_of(ranges_.begin(), ranges_.end(), apart)) return;
  range_list left;
  for (auto const& r : ranges_) {
    if (apart(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded.contains(r[i])) append(left, {r[i], 1, 1});
  }
  ranges_.assign(left.begin(), left.end());
  tasks_ = count_tasks(left);
}

std::uint64_t task_pool::take(std::uint64_t n, range_list& to) {
  std::uint64_t taken = 0;
  while (taken < n && !ranges_.empty()) {
    auto& front = ranges_.front();
    auto most = n - taken;
    if (window_ > 0) most = std::min(most, tasks_of_window(front));
    if (most == 0) break;
    auto const range = front.take_front(most);
    if (front.empty()) ranges_.pop_front();
    taken += range.count;
    tasks_ -= range.count;
    append(to, range);
  }
  return taken;
}

void task_pool::clear() {
  ranges_.clear();
  tasks_ = 0;
}

void task_pool::sunk(std::uint64_t count, task_id next) {
  sunk_ = count;
  sink_next_ = next;
}

// Returns the number of tasks given whose results the sink has not received. Restored results went to the
// sink first.
std::uint64_t task_pool::open() const { return added_ - tasks_ - (sunk_ - std::min(sunk_, restored_)); }

// Returns how many tasks of `next`, from the first one on, the window allows to give out.
std::uint64_t task_pool::tasks_of_window(task_range const& next) const {
  if (!ordered_) return window_ - std::min(window_, open());
  auto const end = sink_next_ + window_;
  return next.first >= end ? 0 : (end - next.first + next.stride - 1) / next.stride;
}

}  // namespace skel::role
