#include "farm/role/task_times.hpp"

#include <algorithm>
#include <cmath>

namespace skel::role {

namespace {
// What is assumed counts as much as this many tasks.
constexpr double assumed = 10;
}  // namespace

std::size_t task_times::bin_of(double seconds) {
  constexpr double shortest = 1e-9;
  return static_cast<std::size_t>(
      std::clamp(std::ilogb(std::max(shortest, seconds) / shortest), 0, bins - 1));
}

void task_times::add(double seconds, double tasks) {
  if (!(std::isfinite(seconds) && seconds > 0 && tasks > 0)) return;
  if (tasks_ > remembered_) {
    for (auto& b : bins_) b = {b.tasks / 2, b.seconds / 2};
    tasks_ /= 2, seconds_ /= 2, squares_ /= 2;
  }
  double const each = seconds / tasks;
  auto& b = bins_[bin_of(each)];
  b.tasks += tasks;
  b.seconds += seconds;
  tasks_ += tasks;
  seconds_ += seconds;
  squares_ += seconds * each;
}

double task_times::variation() const {
  double const square = mean() * mean();
  return std::max(0.0, (squares_ + assumed * 2 * square) / (tasks_ + assumed) / square - 1);
}

double task_times::excess(double done, double limit) const {
  double const more = std::max(mean(), (overdue - 1) * done);
  double tasks = assumed;
  double seconds = assumed * more * std::exp((done - limit) / more);
  for (auto at = bin_of(done); at < bins_.size(); ++at) {
    auto const& b = bins_[at];
    if (b.seconds <= done * b.tasks) continue;  // they were shorter
    tasks += b.tasks;
    seconds += std::max(0.0, b.seconds - limit * b.tasks);
  }
  return seconds / tasks;
}

}  // namespace skel::role
