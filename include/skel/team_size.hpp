// How many ranks of a farm run one task together.
//
//     skel::farm_options const four{.team_size = 4};
//     skel::farm_options const own{.team_size = [&](skel::task_id i) { return jobs[i].ranks; }};
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "skel/detail/task_range.hpp"

namespace skel {

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

  /// Whether every task runs on one rank.
  [[nodiscard]] bool is_one() const { return !of_ && ranks_ == 1; }
  /// Whether a function decides.
  [[nodiscard]] bool varies() const { return static_cast<bool>(of_); }
  /// The number of ranks for this task, as given.
  [[nodiscard]] int at(task_id task) const { return of_ ? of_(task) : ranks_; }

 private:
  int ranks_ = 1;
  std::function<int(task_id)> of_;
};

}  // namespace skel
