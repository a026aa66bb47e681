// The ranks that are to leave during a bsp call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "protocol/leave_request.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// They leave one after the other, each after a checkpoint of its own: a store in the memory of the ranks
/// survives few losses at a time. The root is the last. Other ranks wait after the checkpoint, so that they
/// repeat no superstep, but not for a store that hangs.
///
/// A regular value.
class leavers {
 public:
  /// The rank is to leave, or stays after all. Returns whether the others need not wait.
  [[nodiscard]] bool asks(rank_id rank, std::uint64_t number) {
    if (is_to_leave(number)) return all_[rank] = number, false;
    all_.erase(rank);
    if (released_ != rank && any()) return false;
    generation_ = 0;
    return true;
  }
  void lost(rank_id rank) { all_.erase(rank); }
  [[nodiscard]] bool any() const { return !all_.empty(); }
  /// Whether one of them waits for a checkpoint. After one that failed, it waits for the next that is due.
  [[nodiscard]] bool want_checkpoint() const { return any() && !failed_; }
  /// A checkpoint begins, after which no superstep begins.
  void hold(std::uint64_t generation) {
    generation_ = generation;
    held_ = true;
    ticks_.reset();
  }
  /// The superstep has been reached.
  void wait() { ticks_ = 0; }
  /// The checkpoint is committed. Returns the rank that may leave now, and the number of its request.
  [[nodiscard]] std::optional<std::pair<rank_id, std::uint64_t>> committed(std::uint64_t generation) {
    if (!any() || generation != generation_) return {};
    released_ = all_.rbegin()->first;
    return *all_.rbegin();
  }
  /// It was not.
  void failed(std::uint64_t generation) { failed_ = failed_ || generation == generation_; }
  void begin_epoch() { *this = leavers(std::move(all_)); }
  /// Returns whether supersteps had to wait until now.
  [[nodiscard]] bool go_on() { return std::exchange(held_, false); }
  /// Returns whether they have waited for long enough.
  [[nodiscard]] bool tick() { return held_ && ticks_ && ++*ticks_ == patience; }
  leavers() = default;
  friend bool operator==(leavers const&, leavers const&) = default;
  auto fields() const { return std::tie(all_, generation_, released_, held_, failed_, ticks_); }

 private:
  static constexpr unsigned patience = 12;  // ticks
  using requests = std::map<rank_id, std::uint64_t>;
  explicit leavers(requests all) : all_(std::move(all)) {}

  requests all_;
  std::uint64_t generation_ = 0;  // of the latest checkpoint for one of them
  std::optional<rank_id> released_;
  bool held_ = false;
  bool failed_ = false;
  std::optional<unsigned> ticks_;
};

}  // namespace skel::role
