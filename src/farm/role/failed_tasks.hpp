// Tasks of a farm that threw and may run again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "farm/role/dealer.hpp"

namespace skel::role {

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

}  // namespace skel::role
