// How far the tasks of a farm are: produced by the source, with a result, received by the sink.
#pragma once

#include <tuple>

#include "farm/role/config.hpp"
#include "protocol/task_set.hpp"

namespace skel::role {

/// A regular value, part of farm_book.
class task_progress {
 public:
  task_progress() = default;
  explicit task_progress(farm_task_list const& list);

  // --- the source
  /// It has produced tasks [0, available). `ended`: these are all. Returns the new ones that have no result.
  [[nodiscard]] range_list supplied(std::uint64_t available, bool ended);
  [[nodiscard]] std::uint64_t available() const { return available_; }
  [[nodiscard]] bool source_ended() const { return source_ended_; }
  /// Whether it has produced all these tasks.
  [[nodiscard]] bool exist(range_list const& ranges) const;
  /// The last task with a restored result, if the source has no such task: the run could never be complete.
  [[nodiscard]] std::optional<task_id> unknown_restored() const;

  // --- results
  [[nodiscard]] task_set const& recorded() const { return recorded_; }
  /// Returns the tasks that had no result.
  range_list record(task_range const& tasks) { return recorded_.insert(tasks); }
  /// These results do not count any more.
  void erase(range_list const& tasks);
  void leave_out(task_id task);
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// The tasks that are neither recorded nor among these.
  [[nodiscard]] range_list missing(task_set const& others = {}) const {
    return recorded_.missing(recorded_.low_water(), available_, others);
  }
  /// The tasks of `ranges` that have no result.
  [[nodiscard]] range_list not_recorded(range_list const& ranges) const;

  // --- the sink
  /// It has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next);
  [[nodiscard]] std::uint64_t sunk() const { return sunk_; }
  [[nodiscard]] task_id sink_next() const { return sink_next_; }
  /// Whether the sink has received all results so far, or all up to the first one that is missing.
  [[nodiscard]] bool all_sunk(bool ordered) const {
    return ordered ? !recorded_.contains(sink_next_) : sunk_ + left_out_ >= recorded_.count();
  }
  /// Whether all tasks exist and have a result, and whether the sink has received these.
  [[nodiscard]] bool all_recorded() const { return source_ended_ && recorded_.count() == available_; }
  [[nodiscard]] bool complete() const { return all_recorded() && sunk_ + left_out_ == available_; }
  friend bool operator==(task_progress const&, task_progress const&) = default;
  auto fields() const {
    return std::tuple(available_, source_ended_, recorded_.count(), recorded_.low_water(), left_out_, sunk_,
                      sink_next_);
  }

 private:
  std::uint64_t available_ = 0;
  bool source_ended_ = false;
  task_set recorded_;
  task_id restored_end_ = 0;  // behind the last restored task
  std::uint64_t left_out_ = 0;
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
};

}  // namespace skel::role
