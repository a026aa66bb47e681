// Tasks of a farm that threw and may run again.
#pragma once

#include <map>
#include <vector>

#include "role/digest.hpp"
#include "role/outcome.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::role {

/// The failures of each task without result, and the failed tasks that wait for a rank. A regular value, part
/// of farm_root.
class failed_tasks {
 public:
  /// The task threw on `rank`, as that rank's failure number `nth`. Returns false for a repeated message.
  bool add(task_id task, rank_id rank, std::uint64_t nth);
  [[nodiscard]] unsigned times(task_id task) const;
  [[nodiscard]] bool failed_on(task_id task, rank_id rank) const;
  /// The task must run again, and no rank has it.
  void wait(task_id task) { all_.at(task).waits = true; }
  void given(task_id task) { all_.at(task).waits = false; }
  /// The task has a result, or is left out.
  void settle(task_range const& tasks);
  [[nodiscard]] std::vector<task_id> waiting() const;
  [[nodiscard]] bool empty() const { return all_.empty(); }
  friend bool operator==(failed_tasks const&, failed_tasks const&) = default;
  void hash(digest& d) const;

 private:
  struct failure {
    rank_id rank = 0;
    std::uint64_t nth = 0;
    friend bool operator==(failure const&, failure const&) = default;
  };
  struct record {
    std::vector<failure> failures{};
    bool waits = false;
    friend bool operator==(record const&, record const&) = default;
  };
  std::map<task_id, record> all_;
};

}  // namespace skel::role
