// Recycles message buffers: fresh pages cost more than reading data into them.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace skel::transport {

/// Thread-safe.
class spare_buffers {
 public:
  spare_buffers();
  /// Returns a buffer of at least `bytes` bytes, if there is one; otherwise, or for 0, the largest.
  /// Small buffers are always allocated.
  [[nodiscard]] std::vector<std::byte> take(std::size_t bytes);
  /// Keeps a few large buffers; drops all others.
  void give(std::vector<std::byte> bytes) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> all_;
};

}  // namespace skel::transport
