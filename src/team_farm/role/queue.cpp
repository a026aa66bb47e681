#include "queue.hpp"

namespace skel::role {

void team_queue::add(task_id task, std::uint64_t wanted) {
  auto& same = waiting_[wanted];
  if (costs_.empty() && !same.empty() && same.back().last() + 1 == task)
    ++same.back().count;
  else
    same.push_back({task, 1, 1});
  ++tasks_;
}

void team_queue::sort() {
  if (costs_.empty()) return;
  for (auto& [size, tasks] : waiting_)
    std::sort(tasks.begin(), tasks.end(), [&](auto& a, auto& b) { return before(a.first, b.first); });
}

void team_queue::put_back(task_id task, std::uint64_t wanted) {
  auto& same = waiting_[wanted];
  auto const at = std::lower_bound(same.begin(), same.end(), task,
                                   [&](auto const& r, task_id id) { return before(r.first, id); });
  same.insert(at, {task, 1, 1});
  ++tasks_;
}

bool team_queue::remove(task_id task) {
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    range_list left;
    for (auto const& r : at->second)
      for (std::uint64_t i = 0; i < r.count; ++i)
        if (r[i] != task) append(left, {r[i], 1, 1});
    if (auto const n = count_tasks(left); n < count_tasks({at->second.begin(), at->second.end()})) {
      at->second.assign(left.begin(), left.end());
      --tasks_;
      if (n == 0) waiting_.erase(at);
      return true;
    }
  }
  return false;
}

team_queue::entry team_queue::take(by_size::iterator at, std::uint64_t size) {
  auto& tasks = at->second;
  entry const e{tasks.front().take_front(1).first, at->first, size};
  if (tasks.front().empty()) tasks.pop_front();
  if (tasks.empty()) waiting_.erase(at);
  --tasks_;
  return e;
}

// Whether task a is to begin before b, if their teams are of one size.
bool team_queue::before(task_id a, task_id b) const {
  if (costs_.empty() || costs_[a] == costs_[b]) return a < b;
  return costs_[a] > costs_[b];
}

}  // namespace skel::role
