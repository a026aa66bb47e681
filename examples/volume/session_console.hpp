// The root's side of a session: reads commands, reports what failed, and orders pictures.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "session_scene.hpp"
#include "skel/transfer.hpp"

namespace volume {

/// Reads lines from a descriptor without blocking for longer than a tenth of a second at a time.
class line_input {
 public:
  /// `file`: "-" is standard input. Throws usage_error if it cannot be opened.
  explicit line_input(std::string const& file);
  ~line_input();
  line_input(line_input const&) = delete;
  line_input& operator=(line_input const&) = delete;

  /// Returns the next line, or nothing at the end of input or when `stopped` returns true. Returns
  /// only the beginning of a line of more than 1 MiB.
  [[nodiscard]] std::optional<std::string> next(std::function<bool()> const& stopped);
  [[nodiscard]] bool is_terminal() const;

 private:
  int descriptor_ = 0;
  bool ended_ = false;
  std::string buffer_;
};

/// What every rank needs for the next picture.
struct session_order {
  bool ends = false;  ///< there is no next picture
  std::string specification, file, field, variable;
  std::string version;  ///< of the file, when the last command chose it
  std::uint64_t time = 0;
  int frames = 1;
};

class session_console {
 public:
  explicit session_console(options const& o);

  /// Executes commands up to the next `render` or the end. Errors go to standard error.
  [[nodiscard]] session_order next(std::function<bool()> const& stopped);
  /// The file of the last order.
  [[nodiscard]] std::string const& output() const noexcept { return scene_.output(); }
  /// Reports that the last order failed.
  void failed(std::string const& text);
  /// For the end of the run: `2 commands failed`; empty if none did, or at a terminal, where the user
  /// has seen it.
  [[nodiscard]] std::string failure() const;

 private:
  std::string place_, version_;
  line_input input_;
  session_scene scene_;
  std::size_t line_ = 0, failed_ = 0;
};

}  // namespace volume

template <>
struct skel::transfer_traits<volume::session_order> {
  static void pack(volume::session_order const& o, std::vector<std::byte>& out) {
    skel::pack(o.ends, out);
    for (auto const* text : {&o.specification, &o.file, &o.field, &o.variable, &o.version})
      skel::pack(*text, out);
    skel::pack(o.time, out);
    skel::pack(o.frames, out);
  }
  static volume::session_order unpack(std::span<std::byte const>& in) {
    volume::session_order o;
    o.ends = skel::unpack<bool>(in);
    for (auto* text : {&o.specification, &o.file, &o.field, &o.variable, &o.version})
      *text = skel::unpack<std::string>(in);
    o.time = skel::unpack<std::uint64_t>(in);
    o.frames = skel::unpack<int>(in);
    return o;
  }
};
