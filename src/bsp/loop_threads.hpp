// Threads for the loops within a superstep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "skel/detail/parallel_loop.hpp"

namespace skel::detail {

/// One thread at a time calls run() and takes part. The others are created by the first loop, and sleep
/// between two loops.
class loop_threads final : public parallel_loop {
 public:
  explicit loop_threads(unsigned threads) : threads_(threads) {}
  ~loop_threads() override;
  void run(std::uint64_t n, body const& part) override;
  /// Returns the seconds that the other threads have spent in loops since the previous call. Not during
  /// run().
  [[nodiscard]] double take_seconds() { return std::exchange(seconds_, 0.0); }

 private:
  void help();
  void take_parts();

  unsigned threads_;
  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wakes_, done_;
  std::uint64_t loops_ = 0;  // number of loops begun
  unsigned working_ = 0;     // helpers that have not finished the latest loop
  bool ending_ = false;
  double seconds_ = 0;  // of the helpers, in loops

  // The latest loop:
  body const* part_ = nullptr;
  std::uint64_t n_ = 0, size_ = 1;      // indices, in all and of a part
  std::atomic<std::uint64_t> next_{0};  // first index of the next part
  std::atomic<bool> failed_{false};     // no further part begins
  std::exception_ptr error_;
  std::uint64_t error_at_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace skel::detail
