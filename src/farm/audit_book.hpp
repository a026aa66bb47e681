// The results of a farm that wait on the root until its audits are settled.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "farm/role/audits.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/function_reference.hpp"
#include "tasks/sink_stage.hpp"

namespace skel::detail {

/// The root role decides; this class has the bytes. Call under the engine's lock. Exceptions of the user's
/// serialisation pass through versions().
class audit_book {
 public:
  audit_book(farm_work& work, engine& of) : work_(work), engine_(of) {}

  /// Keeps the audited results of the batch, those of tasks for which `compares` is true. Equal bytes, of
  /// those that are compared, have equal versions.
  [[nodiscard]] std::vector<role::task_version> versions(result_batch const& batch,
                                                         function_reference<bool(task_id)> const& compares);
  /// Returns this version of the task's result, and forgets the others.
  [[nodiscard]] result_batch accept(task_id task, std::uint64_t version);

  struct held_results {
    result_batch batch;
    range_list accepted;
  };
  /// The tasks `accepted` of a batch of this rank must wait.
  void hold(int rank, result_batch batch, range_list accepted) {
    held_[rank].push_back({std::move(batch), std::move(accepted)});
  }
  void discard(int rank);
  /// The rank's results may go to the sink: take_released() returns them.
  void release(int rank) { released_.insert(rank); }
  [[nodiscard]] std::vector<held_results> take_released();

 private:
  farm_work& work_;
  engine& engine_;
  struct known_version {
    std::vector<std::byte> compared, packed;
  };
  std::unordered_map<task_id, std::vector<known_version>> versions_;
  std::map<int, std::vector<held_results>> held_;  // by rank
  std::set<int> released_;
};

}  // namespace skel::detail
