// How the compute threads of a ring_steal call run tasks.
#pragma once

#include <atomic>
#include <vector>

#include "books.hpp"
#include "call/pace.hpp"
#include "engine/engine.hpp"
#include "skel/detail/steal_work.hpp"

namespace skel::detail {

/// A thread takes the newest tasks of a debt, works on them and their children for about 100 microseconds,
/// and returns the rest. Thieves, other threads and the roles therefore see all tasks except the running
/// ones, and the overhead is negligible even for tasks of a tenth of a microsecond.
class steal_threads {
 public:
  /// Copying this few tasks before they run is almost free: they are one quantum's work, or their cost
  /// is still unknown.
  static constexpr std::size_t few_tasks = 32;
  struct quantum {
    bool alone = false;  // thieves wait for its end
    std::uint64_t tasks = 0;
  };

  steal_threads(engine& of, steal_work const& work, unsigned threads)
      : engine_(of), work_(work), paces_(threads) {}

  /// Number of tasks to take of `waiting`; leaves tasks for `others`, threads that wait.
  [[nodiscard]] std::size_t share(unsigned thread, std::size_t waiting, std::size_t others) const;
  /// Runs the tasks in the hand, without the engine's lock. Ends early if the call does, or if a thief waits.
  void run(steal_books::hand& h, worker_info const& where, quantum& q, std::atomic<bool> const& draining);
  /// `taken` tasks were taken, of which and of their children `left` are returned. Returns the seconds they
  /// ran.
  double ended(unsigned thread, std::size_t taken, std::size_t left);
  void thieves_wait(bool wait) { wanted_.store(wait, std::memory_order_relaxed); }

 private:
  // Padded, so that threads do not share cache lines.
  struct alignas(128) pace {
    task_pace tasks{{.weight = 0.5}};
    std::size_t takes = 0;  // tasks per quantum, recent average
  };

  engine& engine_;
  steal_work const& work_;
  std::vector<pace> paces_;
  std::atomic<bool> wanted_{false};
};

}  // namespace skel::detail
