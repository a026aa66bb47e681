// Progress of a run on standard error: a bar on a terminal, a line per 10 % elsewhere.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skel::observe {

/// Whether progress is shown.
enum class progress_mode : std::uint8_t {
  automatic,  ///< a bar on a terminal; elsewhere lines, unless the run ends within a second
  always,     ///< always
  never       ///< never
};

/// Parses "auto", "always" or "never". Throws usage_error, which lists these, for another text.
progress_mode parse_progress_mode(std::string_view text);

/// The progress of a run at one moment.
struct progress_state {
  std::uint64_t done = 0;              ///< in `unit`
  std::optional<std::uint64_t> total;  ///< in `unit`; empty while a lazy source has not ended
  double seconds = 0;                  ///< since the start of the run
  int ranks = 1;                       ///< of the run, including lost ones
  int lost_ranks = 0;                  ///< how many of them are lost
  std::uint64_t failed = 0;            ///< how many of `done` failed
  std::string_view unit = "tasks";     ///< of done and total
  std::time_t now = 0;                 ///< the time of day; 0: unknown, so the line names no end
};

/// Receives the label of a run and its progress.
using progress_observer = std::function<void(std::string const& label, progress_state const& state)>;

/// Returns one line of at most `width` columns, without line end: label, bar, percentage, tasks,
/// rate, time left at that rate and, if that is a minute or more, the local time of the end. Depends on
/// its arguments and the time zone only.
std::string progress_line(std::string_view label, progress_state const& state, int width);

/// Shows progress on standard error.
class progress_display {
 public:
  /// Shows `label` in front of the progress.
  progress_display(std::string label, progress_mode mode);
  ~progress_display();
  progress_display(progress_display const&) = delete;
  progress_display& operator=(progress_display const&) = delete;

  /// Shows this state. On a terminal at most ten times a second; elsewhere at each 10 % and each
  /// loss, or every 10 s while the total is unknown. All other calls return immediately.
  void update(progress_state const& state);
  /// Clears the bar or completes the last line.
  void finish(progress_state const& state);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace skel::observe
