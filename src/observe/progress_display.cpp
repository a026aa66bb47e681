#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "observe/terminal.hpp"
#include "skel/observe/progress.hpp"

namespace skel::observe {

namespace {

constexpr double seconds_between_bars = 0.1;
constexpr double seconds_between_lines = 10;  // while the total is unknown
constexpr double first_bar_after = 0.2;       // a program with many short runs must not flicker
constexpr double worth_a_line = 1;            // shorter runs print no line
constexpr int line_width = 100;
constexpr std::uint64_t tenths = 10;

// A single write, so that lines of other ranks do not interleave. Unbuffered, because a fork could
// print a buffer twice.
void print(std::string const& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    auto const n = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (n <= 0) return;  // the reader has gone; keep computing
    done += static_cast<std::size_t>(n);
  }
}

std::uint64_t tenth(progress_state const& state) {
  if (!state.total) return 0;
  if (state.done >= *state.total) return tenths;
  return static_cast<std::uint64_t>(10.0 *
                                    (static_cast<double>(state.done) / static_cast<double>(*state.total)));
}

}  // namespace

struct progress_display::impl {
  std::mutex mutex;
  std::string label;
  bool always = false;
  bool on_terminal = false;
  int width = line_width;
  double printed_at = -seconds_between_lines;
  std::uint64_t printed_tenth = 0;
  int printed_losses = 0;
  bool printed_anything = false;
  bool finished = false;

  void bar(progress_state const& state) {
    // The last column stays free, because some terminals would wrap. ESC [K clears the rest of a
    // longer line.
    print("\r" + progress_line(label, state, width - 1) + "\x1b[K");
    printed_anything = true;
    printed_at = state.seconds;
  }

  void line(progress_state const& state) {
    print(progress_line(label, state, width) + "\n");
    printed_anything = true;
    printed_at = state.seconds;
    printed_tenth = tenth(state);
    printed_losses = state.lost_ranks;
  }

  [[nodiscard]] bool wanted(progress_state const& state) const {
    return always || state.seconds >= worth_a_line;
  }

  void update_bar(progress_state const& state) {
    if (state.seconds < first_bar_after && !always) return;
    if (state.seconds - printed_at < seconds_between_bars) return;
    if (auto const now = error_terminal_width()) width = *now;  // the window may have been resized
    bar(state);
  }

  void update_line(progress_state const& state) {
    if (!wanted(state)) return;
    bool const due = state.total ? tenth(state) > printed_tenth
                                 : state.seconds - std::max(printed_at, 0.0) >= seconds_between_lines;
    if (due || state.lost_ranks > printed_losses) line(state);
  }

  void finish(progress_state const& state) {
    if (on_terminal) {
      if (wanted(state)) {
        bar(state);
        print("\n");
      } else if (printed_anything) {
        print("\r\x1b[K");
      }
    } else if (wanted(state) && (!printed_anything || printed_tenth < tenths)) {
      line(state);
    }
  }
};

progress_display::progress_display(std::string label, progress_mode mode) {
  if (mode == progress_mode::never) return;
  impl_ = std::make_unique<impl>();
  impl_->label = std::move(label);
  impl_->always = mode == progress_mode::always;
  if (auto const width = error_terminal_width()) {
    impl_->on_terminal = true;
    impl_->width = *width;
  }
}

// Without finish(), after an exception, the next message must start on its own line.
progress_display::~progress_display() {
  if (impl_ && !impl_->finished && impl_->on_terminal && impl_->printed_anything) print("\r\x1b[K");
}

void progress_display::update(progress_state const& state) {
  if (!impl_) return;
  std::lock_guard const lock(impl_->mutex);
  if (impl_->finished) return;
  if (impl_->on_terminal) {
    impl_->update_bar(state);
  } else {
    impl_->update_line(state);
  }
}

void progress_display::finish(progress_state const& state) {
  if (!impl_) return;
  std::lock_guard const lock(impl_->mutex);
  if (std::exchange(impl_->finished, true)) return;
  impl_->finish(state);
}

}  // namespace skel::observe
