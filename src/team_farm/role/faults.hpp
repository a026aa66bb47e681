// Failures of the tasks of a farm of teams, the ranks that they lost, and which of them to blame.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/call_message.hpp"
#include "protocol/membership.hpp"

namespace skel::role {

/// A task that loses ranks may have ended them, so it runs again only a number of times. After that it waits
/// until the losses are certain.
class task_faults {
 public:
  /// `most_losses`: jobs of a task that lose ranks before it is blamed; 0: never. A loss from outside counts
  /// half.
  explicit task_faults(unsigned most_losses = 0) : most_losses_(most_losses) {}

  /// The task failed. Returns how often it has.
  unsigned failed(task_id task) { return ++failures_[task]; }
  /// A job of the task, which wants a team of this size, has lost these ranks. Returns whether it runs again
  /// now.
  [[nodiscard]] bool lost(task_id task, std::uint64_t wanted, std::vector<rank_id> ranks,
                          membership const& lost);
  /// The rank is not lost. Returns the tasks that run again because of that, and the teams that they want.
  [[nodiscard]] std::vector<std::pair<task_id, std::uint64_t>> heard(rank_id rank, membership const& lost);
  /// A task to blame, and the ranks that it lost.
  [[nodiscard]] std::optional<blamed> tick();
  /// The task has a result, or is to have none.
  void settle(task_id task);
  /// Number of tasks that wait to be blamed.
  [[nodiscard]] std::size_t accused() const { return accused_.size(); }

 private:
  struct accused_task {
    std::uint64_t wanted = 1;
    unsigned ticks = 0;
  };
  [[nodiscard]] bool loses_too_often(task_id task, membership const& lost) const;

  unsigned most_losses_ = 0;
  std::map<task_id, unsigned> failures_;
  std::map<task_id, std::vector<std::vector<rank_id>>> losses_;  // per task, per job: the ranks lost
  std::map<task_id, accused_task> accused_;
};

}  // namespace skel::role
