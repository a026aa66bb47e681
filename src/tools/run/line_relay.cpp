#include "tools/run/line_relay.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace skel::commands {

namespace {

constexpr std::size_t longest_line = 1 << 16;

bool has_room(int output) {
  pollfd room{output, POLLOUT, 0};
  return ::poll(&room, 1, 0) > 0;
}

// A pipe with room takes PIPE_BUF bytes without waiting. Whole lines, if possible: others write, too.
std::string_view piece_of(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  auto const end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

}  // namespace

line_relay::line_relay(int from, shared_output& to, std::string prefix)
    : from_(from), to_(to), prefix_(std::move(prefix)) {}

line_relay::~line_relay() {
  if (to_.waiting == this) to_.waiting = nullptr;
  if (from_ >= 0) ::close(from_);
}

void line_relay::pass() {
  constexpr int most_blocks = 16;
  std::array<char, longest_line> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  if (!may_write()) return;
  for (int blocks = 0; flush() && from_ >= 0 && (blocks < most_blocks || left_); ++blocks) {
    auto const most = std::min(buffer.size(), left_.value_or(buffer.size()));
    auto const n = most == 0 ? 0 : ::read(from_, buffer.data(), most);
    if (n > 0) {
      if (left_) *left_ -= static_cast<std::size_t>(n);
      put({buffer.data(), static_cast<std::size_t>(n)});
    } else if (n < 0 && errno == EAGAIN && !left_) {
      return;
    } else if (n == 0 || errno != EINTR) {
      close();
    }
  }
}

// Returns false while the output has no room.
bool line_relay::flush() {
  std::string_view text = rest_;
  while (!text.empty() && has_room(to_.descriptor)) {
    auto const piece = piece_of(text);
    auto const n = ::write(to_.descriptor, piece.data(), piece.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      error_ = errno;
      text = {};
    }
  }
  rest_.erase(0, rest_.size() - text.size());
  to_.waiting = rest_.empty() ? nullptr : this;
  return rest_.empty();
}

void line_relay::put(std::string_view text) {
  auto const add = [&](std::string_view piece) {
    if (!in_line_) rest_ += prefix_;
    in_line_ = true;
    rest_.append(std::exchange(line_, {})).append(piece);
  };
  for (;;) {
    auto const end = text.find('\n');
    if (end == std::string_view::npos) break;
    add(text.substr(0, end + 1));
    in_line_ = false;
    text.remove_prefix(end + 1);
  }
  line_ += text;
  if (line_.size() > longest_line) add({});
}

void line_relay::close() {
  ::close(std::exchange(from_, -1));
  if (in_line_ || !line_.empty()) put("\n");
}

// A process in another session may have the pipe, too, and print for ever.
void line_relay::finish() {
  if (from_ < 0) return;
  int in_pipe = 0;
  left_ = ::ioctl(from_, FIONREAD, &in_pipe) == 0 ? static_cast<std::size_t>(in_pipe) : 0;  // NOLINT
}

}  // namespace skel::commands
