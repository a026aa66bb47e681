// Memory of messages that serves again: fresh pages cost more than what is read into them.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace skel::transport {

/// Any thread may take and give.
class spare_buffers {
 public:
  spare_buffers();
  /// With room for so many bytes, if there is such a one, otherwise (or for 0) the largest. Small ones are
  /// new.
  [[nodiscard]] std::vector<std::byte> take(std::size_t bytes);
  /// Small ones are not worth it, and no more than a few are kept.
  void give(std::vector<std::byte> bytes) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> all_;
};

}  // namespace skel::transport
