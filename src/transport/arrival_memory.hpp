// Memory for large incoming messages: large pages, each shared by several messages.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace skel::transport {

/// Messages that are kept for long (for instance a mesh that is assembled at the end) leave no
/// memory to reuse, so each message arrives in fresh memory. With small pages, page faults take
/// longer than copying the data.
///
/// A block is reused once the last reference to any message in it is released. take() must not be
/// called concurrently. References may be released on any thread, even after this object is
/// destroyed.
class arrival_memory {
 public:
  /// Returns `bytes` bytes of uninitialised memory.
  [[nodiscard]] std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  struct block;
  [[nodiscard]] std::shared_ptr<block> free_block(std::size_t bytes);

  std::vector<std::shared_ptr<block>> blocks_;  // the latest first
  std::size_t used_ = 0;                        // of the latest one
};

}  // namespace skel::transport
