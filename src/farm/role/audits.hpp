// The audits of a farm: a share of its tasks runs on two ranks, whose results must have the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "protocol/by_rank.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

/// Results of a task with the same bytes are the same version.
struct task_version {
  task_id task = 0;
  std::uint64_t version = 0;
};

/// A rank whose result of `task` differs from that of two others.
struct rank_at_fault {
  rank_id rank = 0;
  task_id task = 0;         ///< which showed it
  std::uint64_t again = 0;  ///< number of its results that are computed again
  range_list released{};    ///< its results that the sink had by then
};

/// The results of audited tasks until two ranks agree, and the other results of each rank until they may go
/// to the sink. A regular value, part of accepted_results.
class farm_audits {
 public:
  farm_audits() = default;
  /// `share` of all tasks is audited; 0: none.
  farm_audits(double share, rank_id ranks);

  [[nodiscard]] bool on() const { return ranks() > 0; }
  [[nodiscard]] rank_id ranks() const { return ranks_.ranks(); }
  /// Whether the task is audited, the same in every run.
  [[nodiscard]] bool chooses(task_id task) const;

  // --- audited tasks
  /// The first result of each rank counts.
  void answered(task_id task, rank_id rank, std::uint64_t version);
  /// The task threw on a rank that was to repeat it.
  void threw(task_id task, rank_id rank);
  struct answer {
    rank_id rank = 0;
    std::uint64_t version = 0;
  };
  [[nodiscard]] std::vector<answer> const& answers(task_id task) const { return open_.at(task).answers; }
  /// The version on which two ranks agree.
  [[nodiscard]] std::optional<std::uint64_t> agreed(task_id task) const;
  /// Whether the task has a result and is not settled.
  [[nodiscard]] bool open(task_id task) const { return open_.contains(task); }
  /// Whether a result of this rank is not settled.
  [[nodiscard]] bool any_open(rank_id rank) const { return ranks_[rank].open > 0; }
  /// The task is settled. Returns its results. `checked`: two of them agree.
  std::vector<answer> close(task_id task, bool checked);

  // --- repetitions
  /// The open tasks that must run on another rank and that none has.
  [[nodiscard]] std::vector<task_id> waiting() const { return {waiting_.begin(), waiting_.end()}; }
  /// Whether this rank may repeat the task: it has not run it.
  [[nodiscard]] bool may_repeat(task_id task, rank_id rank) const;
  /// Number of tasks that the rank is to repeat.
  [[nodiscard]] std::uint64_t holds(rank_id rank) const { return ranks_[rank].holds; }
  void given(task_id task, rank_id rank);
  /// The rank is lost: others must repeat its tasks.
  void lost(rank_id rank);
  /// Likewise for tasks that turn out to be on no rank. Returns all open tasks.
  template <class Missing>
  std::vector<task_id> take_back_if(Missing const& missing) {
    std::vector<task_id> all;
    for (auto& [id, a] : open_) {
      all.push_back(id);
      if (a.holder && missing(id)) take_back(id, a);
    }
    return all;
  }

  // --- results that are not audited
  /// These results of the rank must wait.
  void hold(rank_id rank, task_range const& tasks) { append(ranks_[rank].held, tasks); }
  /// They may go to the sink. Returns them.
  [[nodiscard]] range_list release(rank_id rank);

  // --- ranks at fault
  /// Returns the tasks that have no result any more: those that were held, and open ones.
  [[nodiscard]] range_list blame(rank_id rank, task_id task);
  [[nodiscard]] bool at_fault(rank_id rank) const { return on() && ranks_[rank].at_fault; }
  [[nodiscard]] std::vector<rank_at_fault> const& faults() const { return faults_; }
  [[nodiscard]] std::uint64_t checked() const { return checked_; }
  [[nodiscard]] std::uint64_t unchecked() const { return unchecked_; }

  friend bool operator==(farm_audits const&, farm_audits const&) = default;
  auto fields() const { return std::tie(open_, ranks_, checked_, unchecked_); }

 private:
  struct audit {
    std::vector<answer> answers{};
    std::vector<rank_id> threw{};
    std::optional<rank_id> holder{};
  };
  struct rank_state {
    bool at_fault = false;
    std::uint64_t open = 0;   // answers that are not settled
    std::uint64_t holds = 0;  // audits that it has to answer
    range_list held{};
    range_list released{};
  };
  void take_back(task_id task, audit& a);

  std::uint64_t limit_ = 0;  // of the hashes of audited tasks
  by_rank<rank_state> ranks_;
  std::map<task_id, audit> open_;
  std::set<task_id> waiting_;
  std::vector<rank_at_fault> faults_;
  std::uint64_t checked_ = 0;
  std::uint64_t unchecked_ = 0;
};

}  // namespace skel::role
