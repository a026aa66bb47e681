// Progress of a run on standard error: a bar on a terminal, a line per 10 % elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skel::observe {

enum class progress_mode : std::uint8_t { automatic, always, never };

/// "auto", "always", "never"; anything else throws usage_error that lists them.
progress_mode parse_progress_mode(std::string_view text);

/// What is known of a run at one moment. `total` is unknown while a lazy source has not ended.
struct progress_state {
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total;
  double seconds = 0;  ///< since the start of the run
  int ranks = 1;
  int lost_ranks = 0;
  std::string_view unit = "tasks";  ///< of done and total
};

/// One line without line end, at most `width` columns: label, bar, share, tasks, rate, time left.
/// Pure: the same state gives the same text.
std::string progress_line(std::string_view label, progress_state const& state, int width);

/// Prints to standard error on the root. update() may be called as often as one likes: it prints at most ten
/// times a second on a terminal and at each 10 % otherwise (every 10 s while the total is unknown).
class progress_display {
 public:
  /// `automatic` shows a bar on a terminal and nothing for runs that end within a second elsewhere.
  progress_display(std::string label, progress_mode mode);
  ~progress_display();
  progress_display(progress_display const&) = delete;
  progress_display& operator=(progress_display const&) = delete;

  void update(progress_state const& state);
  /// Clears the bar or completes the last line.
  void finish(progress_state const& state);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace skel::observe
