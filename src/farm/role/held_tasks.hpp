// The tasks that one rank of a farm holds: those that wait, those that run, and those whose results have not
// been sent.
#pragma once

#include <deque>
#include <optional>
#include <span>

#include "role/digest.hpp"
#include "skel/detail/task_range.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// A regular value, part of farm_worker.
class held_tasks {
 public:
  // --- that wait
  void add(std::span<task_range const> ranges);
  /// A task that must run alone, before all others, and stay on this rank.
  void add_suspect(task_range const& task) { suspects_.push_back(task); }
  /// Gives up to `n` tasks, but no suspect, to another rank.
  [[nodiscard]] range_list give_away(std::uint64_t n, steal_end from);
  /// Another rank was first with these tasks. Those that run do no harm.
  void drop(task_range const& range);
  /// Nothing more is started or sent.
  void clear();

  // --- that run
  /// Begins the next suspect, or up to `limit` tasks.
  [[nodiscard]] std::optional<task_range> start(std::uint64_t limit);
  /// These tasks run no more: all that start() returned, or a part of it.
  void end_run(task_range const& range);
  /// The results of these tasks are there. True: the root waits for them, since they are a suspect's.
  bool finish(task_range const& range);
  /// Whether this range is a suspect that runs.
  [[nodiscard]] bool is_suspect(task_range const& running) const;

  // --- that are done
  [[nodiscard]] range_list take_done();

  /// A rank that was given up and came back may be given what it has: these are the tasks it has not.
  [[nodiscard]] range_list not_held(std::span<task_range const> ranges) const;
  [[nodiscard]] range_list all() const;
  [[nodiscard]] bool has_work() const { return !queue_.empty() || !suspects_.empty(); }
  /// Nothing waits and nothing runs.
  [[nodiscard]] bool dry() const { return !has_work() && running_.empty(); }
  [[nodiscard]] std::uint64_t queued() const { return queued_; }
  [[nodiscard]] range_list const& running() const { return running_; }
  [[nodiscard]] std::uint64_t done() const { return done_count_; }
  friend bool operator==(held_tasks const&, held_tasks const&) = default;
  void hash(digest& d) const { d.add(queue_).add(suspects_).add(running_).add(watched_).add(done_); }

 private:
  std::deque<task_range> queue_;
  std::uint64_t queued_ = 0;  // tasks of queue_
  range_list suspects_;
  range_list running_;
  range_list watched_;  // suspects among running_
  range_list done_;
  std::uint64_t done_count_ = 0;  // tasks of done_
};

}  // namespace skel::role
