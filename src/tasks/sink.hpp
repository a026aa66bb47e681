// The way of accepted results from the root role to the user's sink.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "call/sink_turn.hpp"
#include "engine/engine.hpp"
#include "recorder.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"
#include "window_size.hpp"

namespace skel::detail {

/// Whether the root should hand part of its remaining work to others. If handling a remote result costs the
/// root more than running the task itself, help does not pay, and the root keeps the remaining tasks.
/// Compares measured costs. Thread-safe.
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

/// One thread at a time passes results to the sink, without the engine's lock, while more arrive.
class farm_sink {
 public:
  /// Opens the store if there are checkpoints. Throws usage_error if it does not fit the options.
  farm_sink(engine& of, farm_work& work, farm_traits const& traits,
            std::optional<checkpoint_options> const& checkpoint, std::string const& label,
            window_size window);

  // --- under the engine's lock
  void push(result_batch batch, range_list const& accepted);
  [[nodiscard]] window_size const& window() const { return window_; }
  /// This task has no result: an ordered sink passes over it, and one that takes outcomes hears why.
  void push_left_out(task_id task, task_failure why);
  /// Results of an earlier run go to the sink first.
  void push_restored();
  [[nodiscard]] bool waiting() const { return stage_.waiting(); }
  /// Whether results wait, or a thread passes them to the sink.
  [[nodiscard]] bool undelivered() const { return waiting() || busy_.test(); }
  using entries = std::vector<sink_stage::entry>;
  [[nodiscard]] entries take() { return stage_.take(); }
  /// Reuses the memory of `had` and of its messages: fresh pages cost more than reading into them.
  void recycle(entries& had);

  // --- without it
  /// For the one thread that passes results to the sink.
  [[nodiscard]] sink_turn turn() { return sink_turn(busy_); }
  [[nodiscard]] sink_stage::progress drain(entries& list);
  enum class verdict : std::uint8_t { pass, drop, leave };
  /// Passes results to the sink until none waits. Under the lock, `judge` says whether to pass on, drop or
  /// leave those that wait, and `after` receives how far the sink is, when that began, and the first of
  /// these tasks. `before` is called before the sink, without the lock.
  void pass_on(std::function<verdict()> const& judge, std::function<void()> const& before,
               std::function<void(sink_stage::progress const&, double, task_id)> const& after);
  /// Stops the run: the sink receives no more results, but they are recorded so that a later run need not
  /// compute them again. Releases the engine's lock.
  void drop_rest(std::unique_lock<std::mutex> lock);
  [[nodiscard]] bool saves() const { return recorder_ != nullptr; }
  void save_if_due();
  /// Called after the run, however it ended: makes what the sink received durable, if the store allows it.
  void save_last();
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs();

  [[nodiscard]] range_list restored_tasks() const;
  /// Number of results that the sink has received. Thread-safe.
  [[nodiscard]] std::uint64_t sunk() const { return sunk_; }
  [[nodiscard]] farm_help& help() { return help_; }

 private:
  engine& engine_;
  sink_stage stage_;
  std::unique_ptr<farm_recorder> recorder_;  // with checkpoints
  window_size window_;
  farm_help help_;
  std::atomic_flag busy_;
  std::atomic<std::uint64_t> sunk_{0};
};

}  // namespace skel::detail
