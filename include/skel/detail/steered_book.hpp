// The books of a steered source: which tasks it was asked for, which of them are open, and when it is asked
// again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// Calls the user's state, one call at a time, and decides when. With a window it is asked inside settle(),
/// so that its calls follow from the results alone; without one, by pull(), for the threads that wait.
///
/// With checkpoints the calls of ask() are journaled, each with the number of results before it, and a
/// resumed run repeats them between the restored results. Thread-safe.
class steered_book {
 public:
  /// Asks the state for up to n tasks and keeps them. Returns their number and, if `hashes`, a hash of them;
  /// empty: it has no more.
  struct answer {
    std::uint64_t tasks = 0;
    std::uint64_t hash = 0;
  };
  using ask = std::function<std::optional<answer>(std::uint64_t n, bool hashes)>;
  steered_book(std::uint64_t window, ask a) : window_(window), ask_(std::move(a)) {}

  // --- of the feed
  /// Whether a pull may bring tasks for `idle` threads. May be wrong while another thread is here.
  [[nodiscard]] bool due(std::uint64_t idle);
  /// The tasks that the farm does not know yet. Throws what ask() throws.
  struct fresh {
    std::uint64_t tasks = 0;
    bool ended = false;  // these are the last ones
  };
  [[nodiscard]] fresh pull(std::uint64_t idle);
  /// The farm knows this many tasks more.
  void accept(std::uint64_t tasks) { known_ += tasks; }
  /// The tasks that were cancelled since the last call and that the farm knows.
  [[nodiscard]] std::vector<task_id> take_cancelled();

  // --- results
  /// What became of a task is known, whether or not it has a result: calls tell(cancelled), unless the task
  /// is cancelled, and then asks if an order is to be kept. Returns whether it has called.
  using tell = std::function<void(std::vector<task_id>& cancelled)>;
  bool settle(task_id task, bool has_result, tell const& t);
  /// The number of results that came although their tasks were cancelled.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  // --- checkpoints
  /// From now on ask() is journaled.
  void keep_journal() { journal_.on = true; }
  /// Appends the calls of ask() since the last time.
  void put_journal(std::vector<std::byte>& out);
  /// `tasks` results of an earlier run will be settled first. `journal` was put with the last of them.
  void restore(std::uint64_t tasks, std::span<std::byte const> journal);

 private:
  struct call {
    std::uint64_t after = 0;  // this many results
    std::uint64_t wanted = 0;
    std::uint64_t hash = 0;
  };
  void ask_for(std::uint64_t n);
  void ask_again();
  void fill();
  void cancel(task_id task);

  std::mutex mutex_;
  std::uint64_t window_;
  ask ask_;
  std::uint64_t asked_ = 0;              // tasks
  std::atomic<std::uint64_t> known_{0};  // of these: to the farm
  std::uint64_t settled_ = 0;            // results that came here
  std::set<task_id> open_;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex cancel_mutex_;  // of what follows: the farm must not wait for the state
  std::vector<task_id> to_cancel_;
  bool ended_ = false;
  bool dry_ = false;  // it has nothing now
  std::exception_ptr failure_;
  struct ask_journal {
    bool on = false;
    std::vector<call> fresh{};       // not put yet
    std::deque<call> again{};        // of an earlier run
    std::uint64_t results_left = 0;  // likewise: to be settled
    [[nodiscard]] bool replays() const { return !again.empty() || results_left > 0; }
  };
  ask_journal journal_;
};

}  // namespace skel::detail
