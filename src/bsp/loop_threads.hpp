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

/// A loop whose parts several threads take. Parts begin in ascending order, and one that has begun runs to
/// its end or its exception, so the exception of the lowest index is the same for any number of threads.
class shared_loop {
 public:
  /// `size`: indices of a part.
  shared_loop(std::uint64_t n, std::uint64_t size, parallel_loop::body const& part)
      : part_(part), n_(n), size_(size) {}
  /// Returns when no part is left to begin.
  void take_parts();
  /// Throws the exception of the lowest index. Called when all threads have returned from take_parts().
  void rethrow() const;

 private:
  parallel_loop::body const& part_;
  std::uint64_t n_, size_;
  std::atomic<std::uint64_t> next_{0};  // first index of the next part
  std::atomic<bool> failed_{false};     // no further part begins
  std::mutex mutex_;
  std::exception_ptr error_;
  std::uint64_t error_at_ = std::numeric_limits<std::uint64_t>::max();
};

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

  unsigned threads_;
  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wakes_, done_;
  shared_loop* loop_ = nullptr;  // the latest one
  std::uint64_t loops_ = 0;      // number of loops begun
  unsigned working_ = 0;         // helpers that have not finished the latest loop
  bool ending_ = false;
  double seconds_ = 0;  // of the helpers, in loops
};

}  // namespace skel::detail
