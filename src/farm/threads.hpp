// How the compute threads of a farm run tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "call/pace.hpp"
#include "engine/engine.hpp"
#include "farm/role/config.hpp"
#include "farm/role/message.hpp"
#include "setup.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/task_needs.hpp"
#include "tasks/sink_stage.hpp"

namespace skel::detail {

/// A task begins if it fits beside those that run, or if none runs. Called by compute threads, concurrently.
class task_gate {
 public:
  /// `end`: when the run must end, as `now` of enter(); empty: never.
  task_gate(role::task_room mine, std::optional<double> end) : mine_(mine), end_(end) {}

  /// A running task, until it is destroyed.
  class place {
   public:
    place(task_gate& of, role::task_room const& taken) : of_(&of), taken_(taken) {}
    place(place&& from) noexcept : of_(std::exchange(from.of_, nullptr)), taken_(from.taken_) {}
    place& operator=(place&&) = delete;
    ~place() {
      if (of_ != nullptr) of_->leave(taken_);
    }

   private:
    task_gate* of_;
    role::task_room taken_;
  };
  /// It must wait until more tasks have ended than this.
  struct wait {
    std::uint64_t ended = 0;
  };
  using answer = std::variant<place, wait, role::farm::refused>;
  /// Throws usage_error for needs that make no sense.
  [[nodiscard]] answer enter(task_id id, task_needs const& needs, double now);
  /// Number of tasks that have ended.
  [[nodiscard]] std::uint64_t ended() const;

 private:
  void leave(role::task_room const& taken);

  role::task_room mine_;
  std::optional<double> end_;
  mutable std::mutex mutex_;
  role::task_room taken_;      // by the tasks that run
  std::uint64_t running_ = 0;  // their number
  std::uint64_t ended_ = 0;
  std::optional<task_id> first_waiting_;
  std::uint64_t passed_ = 0;  // tasks that have begun since it waits
};

/// A thread runs its tasks in slices, between which it may drive communication, until it has run all of them,
/// one throws, or the results fill a message. Call under the engine's lock, except run().
class farm_threads {
 public:
  struct thrown {
    std::string text;
    bool of_task = true;  // false: the user's merge threw
  };
  struct quantum {
    task_range range{};
    std::uint64_t done = 0;  // tasks of `range` with a result in `batch`; with an error, the next one threw
    result_batch batch{};
    std::optional<thrown> error{};
    /// The next task cannot begin, now or at all.
    std::variant<std::monostate, task_gate::wait, role::farm::refused> held_up{};
  };

  /// `keeps_local`: results stay objects on this rank.
  farm_threads(engine& of, farm_work const& work, farm_setup const& setup, bool keeps_local,
               unsigned threads);

  /// Gives a thread its next tasks. Returns the place for their payloads.
  std::vector<task_payload>& give(unsigned thread, task_range const& range);
  /// The thread goes on with the rest of its range, without the payloads of the first `done` tasks.
  void give_rest(unsigned thread, task_range const& rest, std::uint64_t done);
  [[nodiscard]] bool has_work(unsigned thread) const { return states_[thread].todo.has_value(); }
  /// Number of tasks that the thread should take.
  [[nodiscard]] std::uint64_t limit(unsigned thread) const { return states_[thread].pace.limit(); }
  /// Seconds per task of this thread; 0: unknown.
  [[nodiscard]] double cost(unsigned thread) const { return states_[thread].pace.cost(); }

  /// Tasks begin as their needs permit, if these are known.
  void open_gate(farm_setup const& setup, std::optional<double> end);
  [[nodiscard]] task_gate const* gate() const { return gate_ ? &*gate_ : nullptr; }
  /// The payload of a task that was not run; the task is number `at` of the thread's range. Empty if it has
  /// none.
  [[nodiscard]] task_payload take_payload(unsigned thread, std::uint64_t at);

  /// Takes the thread's tasks. `in_place`: results are computed where they will stay.
  [[nodiscard]] quantum take(unsigned thread, bool in_place);
  /// Runs them. Ends early if the call does. `between` is called now and then.
  void run(quantum& q, worker_info const& where, std::atomic<bool> const& draining,
           function_reference<void()> const& between);
  /// Seconds that the thread has run tasks since the last call.
  [[nodiscard]] double take_busy(unsigned thread) { return states_[thread].pace.take_busy(); }
  /// A task that has run for longer than the time limit.
  [[nodiscard]] std::optional<task_id> overrun(double t) const;
  /// For these seconds no task could run.
  void excuse(double seconds);

 private:
  // Padded so that threads do not share cache lines.
  struct alignas(128) state {
    task_pace pace;
    std::optional<task_range> todo;
    std::vector<task_payload> payloads;  // of todo
    std::atomic<task_id> running{0};     // with a time limit of tasks
    std::atomic<double> since{0};        // when it began; 0: none runs
  };
  [[nodiscard]] std::optional<task_gate::place> admit(quantum& q, worker_info& where);
  void run_slice(quantum& q, std::uint64_t end, worker_info const& where);
  void run_slices(quantum& q, worker_info const& on, std::atomic<bool> const& draining,
                  function_reference<void()> const& between);

  engine& engine_;
  farm_work const& work_;
  std::uint64_t result_bytes_;
  std::optional<double> time_limit_;
  bool keeps_local_;
  needs_of_task needs_;
  std::optional<task_gate> gate_;  // if the needs are known
  std::vector<state> states_;
};
}  // namespace skel::detail
