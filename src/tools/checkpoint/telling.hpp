// Messages, progress and files of skel-checkpoint.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "skel/observe/progress.hpp"
#include "skel/storage/generation.hpp"
#include "tools/checkpoint/verbs.hpp"

namespace skel::storage {

inline constexpr char const* program_name = "skel-checkpoint";

/// Prints a problem on standard error as soon as it is found, even if the command goes on.
void warn(std::string const& problem);

[[nodiscard]] std::string bytes_in_words(double bytes);

class byte_progress {
 public:
  byte_progress(std::string const& label, arguments const& a, std::uint64_t total)
      : display_(label, a.quiet && a.progress == "auto" ? observe::progress_mode::never
                                                        : observe::parse_progress_mode(a.progress)) {
    state_.total = total / million;
    state_.unit = "MB";
  }
  void add(std::uint64_t bytes) {
    bytes_ += bytes;
    update();
    display_.update(state_);
  }
  void finish() {
    update();
    display_.finish(state_);
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  static constexpr std::uint64_t million = 1000000;
  void update() {
    state_.done = bytes_ / million;
    state_.seconds = seconds();
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  observe::progress_display display_;
  observe::progress_state state_;
  std::uint64_t bytes_ = 0;
};

/// Gives new files the permissions that all of some existing files have. While it lives, files are
/// created with no others, so that secret data is never readable for more users than before.
class same_mode {
 public:
  /// Files that do not exist do not count.
  explicit same_mode(std::vector<std::string> const& existing);
  /// As the shards of an object.
  explicit same_mode(stored_object const& o);
  /// As all shards of a generation.
  explicit same_mode(stored_generation const& g);
  ~same_mode();
  same_mode(same_mode const&) = delete;
  same_mode& operator=(same_mode const&) = delete;

  /// Gives all permissions to new files, also those that a process does not set by itself.
  void apply(std::vector<std::string> const& created) const;

 private:
  unsigned mode_, umask_before_;
};

}  // namespace skel::storage
