// The results that a process keeps in case the root is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "call_gate.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// What this process has computed in farms, and its units in multi_host, packed as it was sent to the root;
/// and the values of calls that all ranks have received. When the body runs again, the same call (its place
/// in the body and its hash) need not compute this once more. The oldest results go when there are too many.
/// Requires the engine's lock.
class remembered_results {
 public:
  struct piece {
    run_key call;
    std::uint64_t hash = 0;
    range_list ranges{};  ///< in the order of the results
    std::vector<std::byte> bytes{};
  };

  /// `limit`: bytes; 0: nothing is kept.
  explicit remembered_results(std::uint64_t limit) : limit_(limit) {}
  /// Whether a copy takes at most a hundredth of the time in which the results were computed. Otherwise they
  /// are as quickly computed again.
  [[nodiscard]] static bool pays(std::size_t bytes, double seconds);
  /// Keeps a copy.
  void add(run_key call, std::uint64_t hash, range_list const& ranges, std::span<std::byte const> bytes);
  [[nodiscard]] std::vector<piece const*> of(run_key call, std::uint64_t hash) const;

  /// What the root of the present attempt has said that it runs, in case it ends there.
  struct root_tasks {
    run_key call;
    std::uint64_t hash = 0;
    range_list running{};
    int rank_in_job = 0;
    bool from_outside = false;  ///< it was killed
  };
  void root_runs(root_tasks now) { root_ = std::move(now); }
  /// This root is lost.
  void root_lost(int rank_in_job, bool from_outside);
  /// The tasks of the call that ran on roots when these were lost.
  [[nodiscard]] std::vector<root_tasks> ran_on_roots(run_key call, std::uint64_t hash) const;

 private:
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  std::deque<piece> pieces_;
  std::optional<root_tasks> root_;
  std::vector<root_tasks> lost_roots_;
};

}  // namespace skel::detail
