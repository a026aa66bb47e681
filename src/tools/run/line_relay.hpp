// Passes the lines that a command prints on, each with a prefix.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skel::commands {

class line_relay;

/// A stream to which several relays pass lines.
struct shared_output {
  int descriptor;
  line_relay* waiting = nullptr;  ///< the relay that goes on when there is room; until then no other does
};

/// Owns the reading end of a pipe. Never waits: a reader of the output may have stopped. Lines of several
/// relays are never mixed, unless a line is longer than 64 KiB.
class line_relay {
 public:
  /// `from` does not block. `to` stays open.
  line_relay(int from, shared_output& to, std::string prefix);
  ~line_relay();
  line_relay(line_relay const&) = delete;
  line_relay& operator=(line_relay const&) = delete;

  /// For poll(); -1: nothing may be read, after the end or while the output is full.
  [[nodiscard]] int descriptor() const { return to_.waiting == nullptr ? from_ : -1; }
  /// Passes on what has come, or a part of it to give others their turn.
  void pass();
  /// The command has ended: passes on what is in the pipe, a line without an end too, and closes it. Other
  /// processes may go on printing, in vain.
  void finish();
  /// Whether all has been passed on.
  [[nodiscard]] bool finished() const { return from_ < 0 && rest_.empty(); }
  /// After finish(): whether pass() has something to do now.
  [[nodiscard]] bool has_more() const { return !finished() && to_.waiting == nullptr; }
  /// Why something could not be passed on, an errno; 0: nothing.
  [[nodiscard]] int error() const { return error_; }

 private:
  [[nodiscard]] bool may_write() const { return to_.waiting == nullptr || to_.waiting == this; }
  bool flush();
  void put(std::string_view text);
  void close();

  int from_;
  shared_output& to_;
  std::string prefix_, line_;        // line_: has not ended yet
  std::string rest_;                 // for which the output had no room
  std::optional<std::size_t> left_;  // bytes of the command in the pipe, after its end
  int error_ = 0;
  bool in_line_ = false;  // a part of the line has been passed on
};

}  // namespace skel::commands
