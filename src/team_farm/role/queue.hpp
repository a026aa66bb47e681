// The tasks of a farm of teams that wait for a team.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::role {

/// List scheduling: the largest teams first, among them the most costly tasks, smaller ones where these do
/// not fit.
class team_queue {
 public:
  struct entry {
    task_id task = 0;
    std::uint64_t wanted = 1;  ///< ranks
    std::uint64_t size = 1;    ///< the ranks that it gets: not more than can compute
  };

  /// The costs of all tasks; empty: unknown. Comes before add() of the same tasks, sort() after it.
  void set_costs(std::span<double const> costs) { costs_.assign(costs.begin(), costs.end()); }
  void add(task_id task, std::uint64_t wanted);
  void sort();
  /// A task that was taken must run again.
  void put_back(task_id task, std::uint64_t wanted);
  /// The task is not to run. Returns false if it does not wait here.
  bool remove(task_id task);
  /// Takes the task that begins next, if there is one that `has_room` lets begin and that fits on the free
  /// ones of the `able` ranks that compute. While the largest task waits for ranks, smaller ones may pass it,
  /// but not for ever.
  template <class Room>
  [[nodiscard]] std::optional<entry> take(std::uint64_t free, std::uint64_t able, Room const& has_room) {
    bool largest = true;
    for (auto at = waiting_.begin(); at != waiting_.end() && free > 0; ++at) {
      if (!has_room(at->second.front().first)) continue;
      auto const size = std::clamp<std::uint64_t>(at->first, 1, std::max<std::uint64_t>(able, 1));
      if (size <= free) {
        passed_ = largest ? 0 : passed_ + 1;
        return take(at, size);
      }
      if (std::exchange(largest, false) && passed_ >= able) break;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }

 private:
  using by_size = std::map<std::uint64_t, std::deque<task_range>, std::greater<>>;
  [[nodiscard]] entry take(by_size::iterator at, std::uint64_t size);
  [[nodiscard]] bool before(task_id a, task_id b) const;

  by_size waiting_;
  std::uint64_t tasks_ = 0;   // in waiting_
  std::uint64_t passed_ = 0;  // tasks that began while the largest one waited for ranks
  std::vector<double> costs_;
};

}  // namespace skel::role
