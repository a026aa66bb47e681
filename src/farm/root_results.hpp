// Results of a farm on the root, between their message and the sink.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "call/user_code.hpp"
#include "engine/engine.hpp"
#include "farm/role/action.hpp"
#include "farm/role/audits.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/report.hpp"
#include "tasks/sink.hpp"
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

/// The root role decides which results count; this class has them. With audits they wait until the role
/// releases them. Call under the engine's lock. Exceptions of the user's serialisation pass through
/// versions().
class root_results {
 public:
  root_results(farm_work& work, engine& of, farm_sink& to, bool audits)
      : work_(work), engine_(of), sink_(to), audits_(audits) {}

  [[nodiscard]] bool audits() const { return audits_; }
  /// Keeps the audited results of the batch, those of tasks for which `compares` is true. Equal bytes, of
  /// those that are compared, have equal versions.
  [[nodiscard]] std::vector<role::task_version> versions(result_batch const& batch,
                                                         function_reference<bool(task_id)> const& compares);

  // --- a message of this rank: what the root role decides, and then its results
  void expect(int rank) {
    accepted_.clear();
    sender_ = rank;
  }
  void on(role::farm::record const& a) { append(accepted_, a.range); }
  void on(role::farm::accept const& a);
  void on(role::farm::release const& a) { released_.insert(a.rank); }
  void on(role::farm::discard const& a);
  void arrived(result_batch batch);
  /// `recorded`: number of tasks with a result.
  void decided(std::uint64_t recorded);

  /// With audits: the latest number of tasks with a result. Thread-safe.
  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }
  /// The report of the audits.
  [[nodiscard]] audit_report report(role::farm_audits const& from) const;

 private:
  struct known_version {
    std::vector<std::byte> compared, packed;
  };
  struct held_results {
    result_batch batch;
    range_list accepted;
  };
  farm_work& work_;
  engine& engine_;
  farm_sink& sink_;
  bool audits_;
  int sender_ = 0;       // of the current message
  range_list accepted_;  // its tasks whose results count
  std::unordered_map<task_id, std::vector<known_version>> versions_;
  std::map<int, std::vector<held_results>> held_;  // by rank
  std::set<int> released_;                         // ranks
  std::atomic<std::uint64_t> recorded_{0};
};
}  // namespace skel::detail
