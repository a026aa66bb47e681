// The tasks of a farm that were not given yet, or came back.
#pragma once

#include <deque>
#include <tuple>

#include "protocol/task_set.hpp"

namespace skel::role {

/// Never holds a task twice, nor a recorded one, since the window is computed from what is not in the pool. A
/// regular value.
class task_pool {
 public:
  task_pool() = default;
  /// `window`: most tasks given out whose results the sink has not received; 0: no limit. In task order
  /// (`ordered`) it counts from the first missing task. The first `restored` results of the sink do not
  /// belong to tasks of this pool.
  task_pool(std::uint64_t window, bool ordered, std::uint64_t restored)
      : window_(window), ordered_(ordered), restored_(restored) {}

  /// Sets this number before any task is given.
  void restored(std::uint64_t results) { restored_ = results; }
  /// Adds new tasks.
  void add(range_list const& fresh);
  /// Adds tasks that were given out and that no rank holds any more. They are given next.
  void put_back(range_list const& ranges);
  /// A result of these tasks has arrived after all; `recorded`: all tasks that have one.
  void remove(task_range const& range, task_set const& recorded);
  /// Moves up to `n` tasks, as the window allows, to `to`. Returns their number.
  std::uint64_t take(std::uint64_t n, range_list& to);
  void clear();
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next);

  /// From now on the window holds this many tasks; 0: no limit.
  void resize_window(std::uint64_t tasks) { window_ = tasks; }
  [[nodiscard]] std::uint64_t window() const { return window_; }
  /// Number of tasks, from the next one on, that the window allows to give out. Only with a window.
  [[nodiscard]] std::uint64_t places() const { return empty() ? 0 : tasks_of_window(ranges_.front()); }
  /// Whether the window allows the next task to be given out.
  [[nodiscard]] bool room() const { return window_ == 0 || places() > 0; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  [[nodiscard]] std::deque<task_range> const& ranges() const { return ranges_; }
  friend bool operator==(task_pool const&, task_pool const&) = default;
  auto fields() const { return std::tie(ranges_, sunk_, sink_next_, window_); }

 private:
  [[nodiscard]] std::uint64_t open() const;
  [[nodiscard]] std::uint64_t tasks_of_window(task_range const& next) const;

  std::uint64_t window_ = 0;
  bool ordered_ = false;
  std::uint64_t restored_ = 0;
  std::deque<task_range> ranges_;
  std::uint64_t tasks_ = 0;  // tasks in ranges_
  std::uint64_t added_ = 0;  // tasks
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
};

}  // namespace skel::role
