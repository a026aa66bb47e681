// What a farm does when a task fails.
//
//     skel::farm(ctx, source, f, sink, {.on_error = skel::on_error::retry{.times = 3}});
#pragma once

#include <string>
#include <string_view>

namespace skel {

/// The choices for farm_options::on_error. A task fails when it throws.
namespace on_error {
/// The first failure ends the run with task_error.
struct stop {};
/// A failed task runs again. The run ends with task_error when a task has failed `times` times.
struct retry {
  unsigned times = 3;     ///< at least 1
  bool elsewhere = true;  ///< on a rank where the task has not failed, if there is one
};
/// A task that has failed `times` times is left out, and the run goes on: the sink receives nothing
/// for it, and report::failed_tasks names it. So is a task that ended as many ranks as
/// farm_options::max_losses_per_task.
struct collect {
  unsigned times = 1;     ///< at least 1
  bool elsewhere = true;  ///< as for retry
};
}  // namespace on_error

/// One of on_error::stop, on_error::retry and on_error::collect.
struct error_policy {
  unsigned times = 1;     ///< failures of one task that are too many
  bool elsewhere = true;  ///< whether it runs again on another rank
  bool collects = false;  ///< whether the run then goes on without it

  /// As on_error::stop.
  constexpr error_policy() = default;
  /// The first failure ends the run.
  constexpr error_policy(on_error::stop) {}  // NOLINT(google-explicit-constructor): .on_error = stop{}
  /// Failed tasks run again.
  constexpr error_policy(on_error::retry r)  // NOLINT(google-explicit-constructor)
      : times(r.times), elsewhere(r.elsewhere) {}
  /// Tasks that fail too often are left out.
  constexpr error_policy(on_error::collect c)  // NOLINT(google-explicit-constructor)
      : times(c.times), elsewhere(c.elsewhere), collects(true) {}

  /// Whether the run goes on after a first failure.
  [[nodiscard]] constexpr bool goes_on() const { return times > 1 || collects; }
  friend bool operator==(error_policy const&, error_policy const&) = default;
};
/// Parses "stop", "retry" or "collect", the latter two optionally with options:
/// "retry:times=5,elsewhere=no". Throws usage_error for another text.
[[nodiscard]] error_policy parse_on_error(std::string_view spec);
/// The text from which parse_on_error() makes this policy, such as "retry:times=3".
[[nodiscard]] std::string to_string(error_policy const& policy);

}  // namespace skel
