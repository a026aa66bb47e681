// Finds tasks whose result depends on the rank that runs them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "skel/detail/farm_work.hpp"
#include "tasks/sink_stage.hpp"

namespace skel::detail {

/// The root keeps one result of each of a few ranks. After the run it runs these tasks itself and compares
/// the bytes. For programs with assertions: unlike an audit, it changes nothing about the run.
class rank_check {
 public:
  explicit rank_check(farm_work& work) : work_(work) {}
  /// Keeps the first result of a batch of another rank. Exceptions of the user's serialisation pass through.
  void keep(int from, result_batch const& batch);
  struct difference {
    task_id task = 0;
    int rank = 0;
  };
  /// The first task with another result on this rank. Runs no further task after `seconds`.
  [[nodiscard]] std::optional<difference> find(worker_info const& here, double seconds) const;

 private:
  struct known_result {
    task_id task = 0;
    int rank = 0;
    std::vector<std::byte> compared{};
  };
  farm_work& work_;
  std::vector<known_result> kept_;
};

}  // namespace skel::detail
