// Finds tasks whose result depends on the rank that runs them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "call/user_code.hpp"
#include "skel/detail/farm_work.hpp"
#include "tasks/sink_stage.hpp"

namespace skel::detail {

/// The root keeps one result of each of a few ranks. After the run it runs these tasks itself and compares
/// the bytes. For programs with assertions: unlike an audit, it changes nothing about the run.
class rank_check {
 public:
  explicit rank_check(farm_work& work) : work_(work) {}
  /// Keeps the first result of a batch of another rank. Exceptions of the user's serialisation pass through.
  void keep(int from, result_batch const& batch) {
    constexpr std::size_t most = 8;
    auto const known = [&](known_result const& k) { return k.rank == from; };
    if (!batch.is_packed() || batch.ranges.empty() || kept_.size() == most ||
        std::any_of(kept_.begin(), kept_.end(), known))
      return;
    auto const all = batch.packed.bytes();
    auto rest = all;
    work_.skip_packed(1, rest);
    kept_.push_back({batch.ranges.front().first, from, work_.compared(all.first(all.size() - rest.size()))});
  }
  struct difference {
    task_id task = 0;
    int rank = 0;
  };
  /// The first task with another result on this rank. Runs no further task after `seconds`.
  [[nodiscard]] std::optional<difference> find(worker_info const& here, double seconds) const {
    using clock = std::chrono::steady_clock;
    auto const end = clock::now() + std::chrono::duration<double>(seconds);
    for (auto const& k : kept_) {
      if (clock::now() >= end) break;
      std::vector<std::byte> mine;
      std::uint64_t at = 0;
      auto const thrown = thrown_by([&] { work_.run_packed({k.task, 1, 1}, at, 1, {}, here, mine); });
      if (thrown || work_.compared(mine) != k.compared) return difference{k.task, k.rank};
    }
    return std::nullopt;
  }

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
