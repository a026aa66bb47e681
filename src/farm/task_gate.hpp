// Which tasks a rank runs together, by what they need.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "farm/role/config.hpp"
#include "farm/role/message.hpp"
#include "skel/task_needs.hpp"

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

}  // namespace skel::detail
