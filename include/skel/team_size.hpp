// How many ranks of a farm run one task together.
//
//     skel::farm_options const four{.task = {.team_size = 4}};
//     skel::farm_options const own{.task = {.team_size = [&](skel::task_id i) { return jobs[i].ranks; }}};
//     skel::farm_options const best{.task = {.team_size = skel::team_size::chosen(
//         [&](skel::task_id i, int ranks) { return jobs[i].scaling.seconds(ranks); })}};
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel {

/// The time of a task of which a part runs on one rank only and the rest on all ranks of its team
/// [Amdahl67].
struct amdahl {
  double serial_seconds = 0;    ///< of the part that does not become faster
  double parallel_seconds = 0;  ///< of the rest, on one rank
  /// The time on this many ranks.
  [[nodiscard]] double seconds(int ranks) const { return serial_seconds + parallel_seconds / ranks; }
  /// From the times measured on two numbers of ranks. Throws usage_error unless both are positive and
  /// different. Times that do not fall give a serial task, and times that fall too fast a parallel one.
  [[nodiscard]] static amdahl through(int ranks_a, double seconds_a, int ranks_b, double seconds_b);
};

/// A number of ranks, or a function that returns it for a task's number.
class team_size {
 public:
  /// Each task runs on one rank.
  team_size() = default;
  /// Each task runs on this many ranks, at least 1.
  team_size(int ranks) : ranks_(ranks) {}  // NOLINT(google-explicit-constructor): .team_size = 4
  /// Task i runs on `of(i)` ranks, at least 1. Called on the root.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, team_size> &&
             std::is_invocable_r_v<int, F const&, task_id>)
  team_size(F of) : of_(std::move(of)) {}  // NOLINT(google-explicit-constructor): .team_size = [](…) {…}

  /// skel chooses the sizes that end the whole list soonest. `seconds(i, n)`: the time of task i on n
  /// ranks, up to a common factor. Called on the root. Not for on_root sources, whose tasks are not known
  /// beforehand.
  template <class F>
    requires std::is_invocable_r_v<double, F const&, task_id, int>
  [[nodiscard]] static team_size chosen(F seconds) {
    team_size s;
    s.seconds_ = std::move(seconds);
    return s;
  }

  /// Whether every task runs on one rank.
  [[nodiscard]] bool is_one() const { return !of_ && !seconds_ && ranks_ == 1; }
  /// The number of ranks if it is the same for all tasks.
  [[nodiscard]] std::optional<int> fixed() const {
    return of_ || seconds_ ? std::nullopt : std::optional(ranks_);
  }
  /// Whether skel chooses.
  [[nodiscard]] bool is_chosen() const { return static_cast<bool>(seconds_); }
  /// The sizes for tasks first to last - 1, of which skel chooses none above `ranks`. Throws what the
  /// functions throw, and usage_error for a size below 1 and a time that is not positive.
  [[nodiscard]] std::vector<int> sizes(task_id first, task_id last, int ranks) const;
  /// The times of tasks 0, 1, ... on teams of these sizes; empty unless skel chooses.
  [[nodiscard]] std::vector<double> seconds(std::vector<int> const& sizes) const;

 private:
  int ranks_ = 1;
  std::function<int(task_id)> of_;
  std::function<double(task_id, int)> seconds_;
};

}  // namespace skel
