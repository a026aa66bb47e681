#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

constexpr int default_width = 80;

int width_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return default_width;
  return size.ws_col;
}

bool is_launcher(std::string_view name) {
  // names as in /proc/N/comm, which cuts them after 15 characters
  constexpr std::array<std::string_view, 9> names = {"mpiexec", "mpirun",          "orterun",
                                                     "prterun", "orted",           "prted",
                                                     "prte",    "hydra_pmi_proxy", "mpiexec.hydra"};
  return std::ranges::any_of(names, [&](auto known) { return name.starts_with(known); });
}

std::string command_of(pid_t process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name;
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PPid:")) return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
  }
  return 0;
}

// The outermost launcher of this process; 0 if there is none on this host.
pid_t launcher() {
  pid_t found = 0;
  for (pid_t process = ::getppid(); process > 1 && is_launcher(command_of(process));
       process = parent_of(process)) {
    found = process;
  }
  return found;
}

bool standard_error_is_pipe() {
  struct stat status {};
  return ::fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// The columns of the terminal that shows this process's standard error; empty if it is not a terminal.
// mpiexec reads the ranks' standard error through pipes and copies it to its own, so the launcher's decides.
std::optional<int> error_terminal_width() {
  if (::isatty(STDERR_FILENO) == 1) return width_of(STDERR_FILENO);
  if (!standard_error_is_pipe()) return std::nullopt;
  auto const process = launcher();
  if (process == 0) return std::nullopt;
  // O_NONBLOCK: it may be a pipe without a reader. O_NOCTTY: it must not become the controlling
  // terminal.
  auto const path = "/proc/" + std::to_string(process) + "/fd/2";
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return std::nullopt;
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  auto const width = ::isatty(descriptor) == 1 ? std::optional(width_of(descriptor)) : std::nullopt;
  ::close(descriptor);
  return width;
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
