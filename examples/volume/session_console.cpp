#include "session_console.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "image.hpp"
#include "program/input_file.hpp"
#include "program/paths.hpp"
#include "program/run_program.hpp"
#include "skel/error.hpp"

namespace volume {

line_input::line_input(std::string const& file)
    : descriptor_(file == "-" ? STDIN_FILENO : skel::program::open_input(file)) {}

line_input::~line_input() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::optional<std::string> line_input::next(std::function<bool()> const& stopped) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  constexpr int milliseconds = 100;
  while (!stopped()) {
    if (auto const end = buffer_.find('\n'); end != std::string::npos || ended_) {
      if (buffer_.empty()) return std::nullopt;
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      return line;
    }
    if (buffer_.size() > longest) buffer_.resize(longest);
    pollfd ready{descriptor_, POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0) continue;
    std::array<char, 4096> block;
    auto const count = ::read(descriptor_, block.data(), block.size());
    if (count > 0)
      buffer_.append(block.data(), static_cast<std::size_t>(count));
    else if (count == 0)
      ended_ = true;
    else if (errno != EINTR && errno != EAGAIN)
      throw skel::error(std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
  }
  return std::nullopt;
}

bool line_input::is_terminal() const { return ::isatty(descriptor_) == 1; }

namespace {

// A simulation may have written it again.
std::string version_of(std::string const& file) {
  struct stat s {};
  if (file.empty() || ::stat(file.c_str(), &s) != 0) return {};
  return fmt::format("{} {}.{:09}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

}  // namespace

session_console::session_console(options const& o)
    : place_(o.session == "-" ? "" : o.session + ": "),
      version_(version_of(o.file)),
      input_(o.session),
      scene_(o) {}

namespace {

options::volume volume_of(options const& o) {
  auto const volumes = o.volumes();
  if (volumes.empty()) throw skel::usage_error("found no volume, expected file FILE or field NAME before");
  return volumes.front();
}

/// Throws usage_error if the volume cannot be opened. A variable that is missing may be named later.
void check_volume(options const& o) {
  try {
    static_cast<void>(volume_of(o).open());
  } catch (volume_data::variable_needed const&) {
  }
}

}  // namespace

session_order session_console::next(std::function<bool()> const& stopped) {
  while (auto const line = input_.next(stopped)) {
    ++line_;
    try {
      auto next = scene_;  // a line that fails changes nothing
      auto const what = next.apply(*line);
      if (what == session_scene::effect::quit) break;
      if (what == session_scene::effect::volume) {
        check_volume(next.source());
        version_ = version_of(next.source().file);
      }
      if (what == session_scene::effect::render) {
        static_cast<void>(volume_of(next.source()));
        skel::program::check_writable(next.output());
        auto const spec = parse_specification(next.specification(), "specification");
        auto const& behind = spec.background;
        picture::check_image_name(next.output(), spec.width, spec.height,
                                  behind.what == background_spec::kind::none);
        if (!behind.image.empty()) static_cast<void>(picture::read_png(behind.image));
      }
      scene_ = std::move(next);
      if (what != session_scene::effect::render) continue;
      auto const& from = scene_.source();
      return {false,    scene_.specification(), from.file,  from.field, from.choice.variable,
              version_, from.choice.time,       from.frames};
    } catch (skel::error const& bad) {
      failed(bad.what());
    }
  }
  session_order end;
  end.ends = true;
  return end;
}

void session_console::failed(std::string const& text) {
  ++failed_;
  skel::program::complain("skel-volume", fmt::format("{}line {}: {}", place_, line_, text));
}

std::string session_console::failure() const {
  if (failed_ == 0 || input_.is_terminal()) return {};
  return fmt::format("{} command{} failed", failed_, failed_ == 1 ? "" : "s");
}

}  // namespace volume
