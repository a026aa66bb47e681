// Whether the root of a farm should hand part of its remaining work to others.
#pragma once

#include <atomic>
#include <cstdint>

namespace skel::detail {

/// If handling a remote result costs the root more than running the task itself, help does not pay, and the
/// root keeps the remaining tasks. Compares measured costs. Thread-safe.
class farm_help {
 public:
  /// The root has run tasks of its own, which took `cost` seconds each.
  void did_own_tasks(double cost, double t) {
    task_cost_.store(cost, std::memory_order_relaxed);
    own_finished_.store(t, std::memory_order_relaxed);
  }
  /// Handling `count` results took `seconds`. The root's `own` results are objects or in place; results of
  /// other ranks are bytes.
  void handled_results(bool own, std::uint64_t count, double seconds);
  /// Not for use inside a long task: the root could not take the tasks that it keeps.
  [[nodiscard]] bool root_is_at_it(double t) const;
  [[nodiscard]] bool costs_more_than_it_brings(double t) const;

  /// The latest decision.
  void hold_back(bool on) { held_back_.store(on, std::memory_order_relaxed); }
  [[nodiscard]] bool held_back() const { return held_back_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> task_cost_{0};  // seconds, like the others; 0: unknown
  std::atomic<double> own_result_cost_{0};
  std::atomic<double> other_result_cost_{0};
  std::atomic<double> own_finished_{0};
  std::atomic<bool> held_back_{false};
};

}  // namespace skel::detail
