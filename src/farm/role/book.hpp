// The record of a farm's tasks and ranks on the root, and the one place where tasks are given to ranks.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/dealer.hpp"
#include "farm/role/losses.hpp"
#include "farm/role/task_progress.hpp"
#include "protocol/by_rank.hpp"

namespace skel::role {

/// How long the results of a rank wait for others, so that the root can keep up with all ranks. A regular
/// value, part of farm_book.
class results_spacing {
 public:
  results_spacing() = default;
  explicit results_spacing(rank_id ranks) : told_(ranks) {}

  /// A message costs the root this many seconds, and this many ranks send messages. The spacing is rounded to
  /// a power of two, so that small changes cause no messages.
  void message_cost(double seconds, rank_id ranks) {
    double const all = most_per_message_time * static_cast<double>(ranks) * seconds;
    std::uint64_t wanted = shortest;
    while (wanted < longest && static_cast<double>(wanted) * 1e-6 < all) wanted *= 2;
    microseconds_ = wanted == shortest ? 0 : wanted;  // results of a quantum travel together anyway
  }
  /// The spacing in microseconds that the rank must learn, if it does not know it yet.
  [[nodiscard]] std::optional<std::uint64_t> news_for(rank_id rank) {
    if (std::exchange(told_[rank], microseconds_) == microseconds_) return std::nullopt;
    return microseconds_;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(microseconds_) * 1e-6; }
  friend bool operator==(results_spacing const&, results_spacing const&) = default;
  auto fields() const { return std::tie(microseconds_); }

 private:
  // The root spends at most a third of its time on results messages.
  static constexpr double most_per_message_time = 3;
  static constexpr std::uint64_t shortest = 100, longest = 204'800;  // microseconds

  std::uint64_t microseconds_ = 0;  // between two results messages of a rank
  by_rank<std::uint64_t> told_;
};

/// The failures of each task without result, and the failed tasks that wait for a rank. A regular value, part
/// of farm_book.
class failed_tasks {
 public:
  failed_tasks() = default;
  explicit failed_tasks(farm_root_config const& config)
      : root_(config.root), elsewhere_(config.on_error.elsewhere), rooms_(config.rooms) {}

  /// The task threw on `rank`, as that rank's failure number `nth`. Returns false for a repeated message.
  bool add(task_id task, rank_id rank, std::uint64_t nth);
  [[nodiscard]] unsigned times(task_id task) const;
  /// The rank has no room for the task, as its failure number `nth`. Returns false for a repeated message.
  bool refuse(task_id task, rank_id rank, std::uint64_t nth, task_room const& needs);
  /// Why no rank that is left can run the task; empty: one can.
  [[nodiscard]] std::string misfit(task_id task, compute_ranks const& ranks) const;
  /// The task must run again, and no rank has it.
  void wait(task_id task) { all_.at(task).waits = true; }
  void given(task_id task) { all_.at(task).waits = false; }
  /// The rank that runs the task next: if possible, one where it has not failed yet. Empty: none has said
  /// hello.
  [[nodiscard]] std::optional<rank_id> taker(task_id task, farm_dealer const& dealer) const;
  /// The task has a result, or is left out.
  void settle(task_range const& tasks);
  [[nodiscard]] std::vector<task_id> waiting() const;
  /// Whether the rank has room for the task, as far as its needs are known.
  [[nodiscard]] bool fits(task_id task, rank_id rank) const;
  /// Whether no other rank that computes has room for it.
  [[nodiscard]] bool fits_only(task_id task, rank_id rank, compute_ranks const& ranks) const;
  [[nodiscard]] bool empty() const { return all_.empty(); }
  friend bool operator==(failed_tasks const&, failed_tasks const&) = default;
  auto fields() const { return std::tie(all_); }

 private:
  [[nodiscard]] bool failed_on(task_id task, rank_id rank) const;

  struct failure {
    rank_id rank = 0;
    std::uint64_t nth = 0;
  };
  struct record {
    std::vector<failure> failures{}, refusals{};
    task_room needs{};  // as far as they are known
    bool waits = false;
  };
  rank_id root_ = 0;
  bool elsewhere_ = false;
  std::vector<task_room> rooms_;  // of each rank; empty: of any size
  std::map<task_id, record> all_;
};

/// Numbers of tasks, for the report.
struct farm_counts {
  std::uint64_t again = 0;        ///< that were given again
  std::uint64_t copies = 0;       ///< running tasks of which another rank was given a copy
  std::uint64_t remembered = 0;   ///< with results of an earlier attempt
  std::uint64_t not_started = 0;  ///< left out because they could not end in time
  friend bool operator==(farm_counts const&, farm_counts const&) = default;
};

/// The duties of farm_root work on it. A regular value; events append their actions to `out`.
struct farm_book {
  farm_book() = default;
  explicit farm_book(farm_root_config const& config);

  // --- tasks for ranks
  void serve(rank_id rank, farm_actions& out);
  void serve_all(farm_actions& out);
  /// Gives tasks that came back to ranks that do not ask.
  void push(farm_actions& out);
  /// Deals the tasks if all living ranks have said hello with their power.
  void deal(farm_actions& out);
  /// Lets a root that only serves compute if no other rank is left.
  void enlist_root(farm_actions& out);
  /// Gives each rank one suspect at a time, so that a further loss points to one task.
  void give_suspects(farm_actions& out);
  /// Gives failed tasks to ranks where they have not failed yet.
  void give_failed(farm_actions& out);
  /// Gives a task that no rank holds to a rank that runs it next and alone. See farm::grant_alone.
  void give_alone(rank_id rank, task_id task, bool watched, farm_actions& out);
  /// Gives a copy of tasks that run on another rank. `next`: before all others that the rank holds.
  void give_copy(rank_id rank, range_list which, bool next, farm_actions& out);
  /// No rank holds these tasks any more.
  void put_back(range_list const& which);
  /// The same, but some of them may be among those that no rank holds already.
  void put_back_missing(range_list const& which);

  // --- tasks on their way to the sink
  /// The result of these tasks has come. Returns those that had none.
  range_list record(task_range const& range);
  /// The task has failed too often, or ends every rank that runs it, as do `more` others: it is left out, or
  /// the run ends.
  void give_up(farm::leave_out task, std::uint64_t more, farm_actions& out);
  /// The task is to have no result.
  void leave_out(task_id task, farm_actions& out);
  void sunk(std::uint64_t count, task_id next);

  // --- the end
  /// Task numbers come from another process: the run ends if it has no such tasks.
  [[nodiscard]] bool exist(rank_id rank, range_list const& which, farm_actions& out);
  /// Restored results must belong to tasks of this source, or the run could never be complete.
  [[nodiscard]] bool restored_exist(farm_actions& out);
  /// The run ends so.
  void close(outcome how, farm_actions& out);
  /// The run ends: nothing more is given.
  void stop();
  [[nodiscard]] bool stopping() const { return stopped_; }

  /// True if no task will come into the pool any more.
  [[nodiscard]] bool no_more() const { return tasks.source_ended() && !losses.stock().under_way(); }
  /// Whether a task may be on two ranks.
  [[nodiscard]] bool any_twice() const { return counts.again > 0 || counts.copies > 0; }
  friend bool operator==(farm_book const&, farm_book const&) = default;
  auto fields() const {
    return std::tie(tasks, dealer, losses, failed, spacing, counts.again, counts.copies, counts.not_started,
                    paused);
  }

  task_progress tasks;
  farm_dealer dealer;
  farm_losses losses;
  failed_tasks failed;
  results_spacing spacing;
  farm_counts counts;
  double now = 0;       ///< seconds
  bool paused = false;  ///< no rank begins a task

 private:
  void give(farm_actions& out);

  rank_id root_ = 0;
  bool directs_ = false;
  bool collects_ = false;  // tasks may be left out
  bool recalled_ = false;
  bool stopped_ = false;
  assignments decided_;  // the dealer's decisions; empty between two events, kept for its memory
};

}  // namespace skel::role
