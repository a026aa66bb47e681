// The compute threads of a process beside those that call skeletons.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace skel::detail {

class run;

/// Threads are made when they are first wanted and wait for the next run after that. Runs of several contexts
/// share them: each gets those that are free.
class compute_pool {
 public:
  compute_pool() = default;
  compute_pool(compute_pool const&) = delete;
  compute_pool& operator=(compute_pool const&) = delete;
  /// No run may be in the pool any more.
  ~compute_pool();

  /// Lets up to `threads - 1` threads call r.work(1 ...) while the caller does `own`; returns, or throws what
  /// `own` throws, when they all have returned.
  /// A new thread calls `at_start` first.
  void work_on(run& r, unsigned threads, std::function<void()> const& own,
               std::function<void()> const& at_start);

 private:
  void loop(unsigned thread, std::function<void()> const& at_start);

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  std::vector<run*> work_;  // per thread: what it runs, or null
  bool ending_ = false;
};

}  // namespace skel::detail
