// The results that a process keeps in case the root is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// What this process has computed in farms, and its units in multi_host, packed as it was sent to the root;
/// and the values of calls that all ranks have received. When the body runs again, the same call need not
/// compute this once more. The oldest results go when there are too many. Requires the engine's lock.
class remembered_results {
 public:
  /// Identifies a call in each attempt: the n-th with this hash. The number among all calls would not do,
  /// since some calls are made only on several ranks, or again after a loss.
  struct call {
    std::uint64_t hash = 0, nth = 0;
    friend bool operator==(call const&, call const&) = default;
  };
  struct piece {
    remembered_results::call of;
    range_list ranges{};  ///< in the order of the results
    std::vector<std::byte> bytes{};
  };

  /// `limit`: bytes; 0: nothing is kept. `began`: the first attempt, on the clock of the engine.
  explicit remembered_results(std::uint64_t limit, double began = 0)
      : limit_(limit), began_(began), attempt_began_(began) {}
  /// The identity of a call that begins. To be asked for once per call, on every rank.
  [[nodiscard]] call begins(std::uint64_t hash) { return {hash, ++calls_[hash]}; }
  /// Whether a copy takes at most a hundredth of the time in which the results were computed. Otherwise they
  /// are as quickly computed again.
  [[nodiscard]] static bool pays(std::size_t bytes, double seconds);
  /// Keeps a copy.
  void add(call of, range_list const& ranges, std::span<std::byte const> bytes);
  [[nodiscard]] std::vector<piece const*> of(call which) const;
  /// Of how many tasks of the call it has the results.
  [[nodiscard]] std::uint64_t tasks_of(call which) const;
  /// All of it, for another process to take over.
  void put_all(std::vector<std::byte>& out) const;
  void take_over(std::span<std::byte const> in);

  /// What the root of the present attempt has said that it runs, in case it ends there.
  struct root_tasks {
    remembered_results::call of;
    range_list running{};
    int rank_in_job = 0;
    bool from_outside = false;  ///< it was killed
    bool overrun = false;       ///< it has ended itself, because a task had run for too long
  };
  void root_runs(root_tasks now) { root_ = std::move(now); }
  /// Another attempt begins.
  void attempt_begins(double t) {
    calls_.clear();
    attempt_began_ = t;
    kept_ = 0;
  }
  /// This root is lost.
  void root_lost(int rank_in_job, bool from_outside);
  /// The tasks of the call that ran on roots when these were lost.
  [[nodiscard]] std::vector<root_tasks> ran_on_roots(call which) const;

  /// On the root: a call has ended of which another attempt need not repeat these seconds.
  void keep_seconds(double kept) { kept_ += kept; }
  /// What another attempt would repeat of this one, also of the program's own code. Calls that run now count
  /// as a whole.
  [[nodiscard]] double repeated_seconds(double t) const { return t - attempt_began_ - kept_; }
  /// The time when the first attempt began.
  [[nodiscard]] double began() const { return began_; }

 private:
  std::uint64_t limit_;
  double began_, attempt_began_;
  std::uint64_t size_ = 0;
  double kept_ = 0;                               // seconds of calls that have ended in this attempt
  std::map<std::uint64_t, std::uint64_t> calls_;  // of the present attempt, by their hashes
  std::deque<piece> pieces_;
  std::optional<root_tasks> root_;
  std::vector<root_tasks> lost_roots_;
};

}  // namespace skel::detail
