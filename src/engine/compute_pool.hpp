// The compute threads of a process, apart from those that call skeletons.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace skel::detail {

class run;

/// Threads are created on first use and then wait for further runs. Runs of several contexts share
/// them: each gets the free ones.
class compute_pool {
 public:
  compute_pool() = default;
  compute_pool(compute_pool const&) = delete;
  compute_pool& operator=(compute_pool const&) = delete;
  /// No run may be left in the pool.
  ~compute_pool();

  /// Lets up to `threads - 1` threads call r.work(1 ...) while the caller runs `own`. Returns, or
  /// rethrows the exception of `own`, when all have returned. A new thread first calls `at_start`.
  void work_on(run& r, unsigned threads, std::function<void()> const& own,
               std::function<void()> const& at_start);

 private:
  void loop(unsigned thread, std::function<void()> const& at_start);

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  std::vector<run*> work_;  // per thread: its run, or null
  bool ending_ = false;
};

}  // namespace skel::detail
