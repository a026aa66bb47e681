// Implements --preview FILE: a picture on disk that is updated during the run.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "skel/atomic_file.hpp"

namespace raytrace {

/// Rewrites a file as results arrive, at most once per `interval`. The file is replaced atomically,
/// so readers never see a partial picture. Not thread-safe: the sink calls it from one thread at a
/// time. Does nothing if the path is empty. Only the first write and finish() throw; errors in
/// between are ignored.
class preview {
 public:
  using clock = std::chrono::steady_clock;
  using writer = std::function<void(skel::atomic_file&)>;
  static constexpr std::chrono::milliseconds default_interval{500};

  preview(std::string path, writer write, clock::duration interval = default_interval);

  /// Call after each result. Returns true if the file was rewritten.
  bool update() { return update(clock::now()); }
  bool update(clock::time_point now);
  /// Writes the final picture unconditionally.
  void finish();

 private:
  void rewrite();

  std::string path_;
  writer write_;
  clock::duration interval_;
  std::optional<clock::time_point> written_at_;
};

}  // namespace raytrace
