#include "pace.hpp"

#include <algorithm>

#include "call/quantum.hpp"

namespace skel::detail {

void task_pace::measured(std::uint64_t tasks, double seconds, std::size_t bytes, std::size_t result_bytes) {
  busy_ += seconds;
  if (tasks == 0) return;
  double const cost = std::max(seconds / static_cast<double>(tasks), 1e-9);
  cost_ = cost_ == 0 ? cost : 0.7 * cost_ + 0.3 * cost;
  auto want = static_cast<std::uint64_t>(quantum_seconds / cost_);
  if (bytes > quantum_bytes / 2) want = std::min(want, limit_);
  want = std::min<std::uint64_t>(want, quantum_bytes / std::max<std::size_t>(1, result_bytes));
  limit_ = std::clamp<std::uint64_t>(want, 1, std::min(most_tasks_of_quantum, limit_ * 4));
}

std::uint64_t task_pace::slice() const { return tasks_in(slice_seconds, cost_, limit_); }

}  // namespace skel::detail
