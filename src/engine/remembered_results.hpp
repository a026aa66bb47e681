// The results that a process keeps in case the root is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "call_gate.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// What this process has computed in farms, and its units in multi_host, packed as it was sent to the root.
/// When the body runs again, the same call (its place in the body and its hash) need not compute this once
/// more. The oldest results go when there are too many. Requires the engine's lock.
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

 private:
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  std::deque<piece> pieces_;
};

}  // namespace skel::detail
