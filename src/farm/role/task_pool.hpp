// The tasks of a farm that no rank was given, or that came back.
#pragma once

#include <deque>

#include "role/digest.hpp"
#include "role/task_set.hpp"

namespace skel::role {

/// Never holds a task twice, nor one that is recorded: the window is counted by what is not in it. A regular
/// value.
class task_pool {
 public:
  task_pool() = default;
  /// `window`: most tasks given out whose results the sink has not had; 0: no limit. In task order
  /// (`ordered`) it is counted from the first task that is missing. The first `restored` results of the sink
  /// are not of tasks of this pool.
  task_pool(std::uint64_t window, bool ordered, std::uint64_t restored)
      : window_(window), ordered_(ordered), restored_(restored) {}

  /// Tasks that are new.
  void add(range_list const& fresh);
  /// Tasks that were given out, and that no rank holds any more. They are the next to be given.
  void put_back(range_list const& ranges);
  /// A result of these tasks has come all the same; `recorded` are all that have one.
  void remove(task_range const& range, task_set const& recorded);
  /// Up to `n` tasks, as the window allows, are added to `to`. Returns their number.
  std::uint64_t take(std::uint64_t n, range_list& to);
  void clear();
  /// The sink has received `count` results in all. In task order, the next it waits for is `next`.
  void sunk(std::uint64_t count, task_id next);

  /// Whether the window allows the next task to be given out.
  [[nodiscard]] bool room() const { return window_ == 0 || tasks_of_window(task_range{next_task(), 1}) > 0; }
  [[nodiscard]] bool windowed() const { return window_ > 0; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  [[nodiscard]] std::deque<task_range> const& ranges() const { return ranges_; }
  friend bool operator==(task_pool const&, task_pool const&) = default;
  void hash(digest& d) const { d.add(ranges_).add(sunk_).add(sink_next_); }

 private:
  [[nodiscard]] task_id next_task() const { return ranges_.front().first; }
  [[nodiscard]] std::uint64_t open() const;
  [[nodiscard]] std::uint64_t tasks_of_window(task_range const& next) const;

  std::uint64_t window_ = 0;
  bool ordered_ = false;
  std::uint64_t restored_ = 0;
  std::deque<task_range> ranges_;
  std::uint64_t tasks_ = 0;  // of ranges_
  std::uint64_t added_ = 0;  // tasks
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
};

}  // namespace skel::role
