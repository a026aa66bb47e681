// A picture that grows on disk while the run goes on: --preview FILE.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "skel/atomic_file.hpp"

namespace skel::program {

/// Rewrites a file as results arrive, at most every `interval`; whoever looks at it never sees half of it.
/// Called from the sink, so by one thread at a time. Without a path it does nothing. An error of the first
/// writing is thrown, later ones only of finish().
class preview {
 public:
  using clock = std::chrono::steady_clock;
  using writer = std::function<void(skel::atomic_file&)>;
  static constexpr std::chrono::milliseconds default_interval{500};

  preview(std::string path, writer write, clock::duration interval = default_interval);

  /// Call after each result. True if the file was rewritten.
  bool update() { return update(clock::now()); }
  bool update(clock::time_point now);
  /// The last one, always written.
  void finish();

 private:
  void rewrite();

  std::string path_;
  writer write_;
  clock::duration interval_;
  std::optional<clock::time_point> written_at_;
};

}  // namespace skel::program
