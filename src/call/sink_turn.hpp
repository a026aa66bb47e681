// Which thread gives results to the user's sink.
#pragma once

#include <atomic>

namespace skel::detail {

/// Held by the thread that found `busy` clear; false on the others, which do not wait. Not a mutex: a sink
/// that spends simulated time comes back to where the turn is taken.
class sink_turn {
 public:
  explicit sink_turn(std::atomic_flag& busy)
      : flag_(busy), mine_(!flag_.test_and_set(std::memory_order_acquire)) {}
  sink_turn(sink_turn const&) = delete;
  sink_turn& operator=(sink_turn const&) = delete;
  ~sink_turn() {
    if (mine_) flag_.clear(std::memory_order_release);
  }
  explicit operator bool() const { return mine_; }

 private:
  std::atomic_flag& flag_;
  bool mine_;
};

}  // namespace skel::detail
