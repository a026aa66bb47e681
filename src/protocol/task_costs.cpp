#include "task_costs.hpp"

#include <algorithm>

namespace skel {

task_costs::task_costs(std::vector<double> const& each) {
  before_.reserve(each.size() + 1);
  before_.push_back(0);
  for (double const cost : each) before_.push_back(before_.back() + cost);
}

double task_costs::of(task_range const& tasks) const {
  if (tasks.empty()) return 0;
  if (!known()) return static_cast<double>(tasks.count);
  if (tasks.stride == 1) return before_[tasks.last() + 1] - before_[tasks.first];
  double sum = 0;
  for (std::uint64_t i = 0; i < tasks.count; ++i) sum += of({tasks[i], 1, 1});
  return sum;
}

std::uint64_t task_costs::fitting(task_range const& tasks, double most) const {
  std::uint64_t low = 0, high = tasks.count;  // that many fit, at least and at most
  while (low < high) {
    auto const middle = high - (high - low) / 2;
    if (of({tasks.first, middle, tasks.stride}) <= most)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

task_costs task_costs::of_these(range_list const& tasks) const {
  std::vector<double> each;
  each.reserve(count_tasks(tasks));
  for (auto const& r : tasks)
    for (std::uint64_t i = 0; i < r.count; ++i) each.push_back(of({r[i], 1, 1}));
  return task_costs(each);
}

}  // namespace skel
