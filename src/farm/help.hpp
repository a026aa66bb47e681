// Whether the root of a farm had better be helped with what is left.
#pragma once

#include <atomic>
#include <cstdint>

namespace skel::detail {

/// Where handling a result of another rank costs the root more than doing the task itself, help is none: the
/// root then holds back what is left. It weighs what it has measured; from any thread.
class farm_help {
 public:
  /// The root has done tasks of its own, of `cost` seconds each.
  void did_own_tasks(double cost, double t) {
    task_cost_.store(cost, std::memory_order_relaxed);
    own_finished_.store(t, std::memory_order_relaxed);
  }
  /// Handling `count` results took `seconds`. The root's `own` come as objects or are in place, those of
  /// others come as bytes.
  void handled_results(bool own, std::uint64_t count, double seconds);
  /// Not inside a long task, where it would take nothing of what it holds back.
  [[nodiscard]] bool root_is_at_it(double t) const;
  [[nodiscard]] bool costs_more_than_it_brings(double t) const;

  /// What was decided.
  void hold_back(bool on) { held_back_.store(on, std::memory_order_relaxed); }
  [[nodiscard]] bool held_back() const { return held_back_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> task_cost_{0};  // seconds, as the others; 0: not known
  std::atomic<double> own_result_cost_{0};
  std::atomic<double> other_result_cost_{0};
  std::atomic<double> own_finished_{0};
  std::atomic<bool> held_back_{false};
};

}  // namespace skel::detail
