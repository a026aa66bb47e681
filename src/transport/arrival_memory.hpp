// Where large messages arrive: memory in large pages, of which each message has a part.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace skel::transport {

/// Messages that somebody refers to for long (a mesh that is put together in the end) leave nothing to be
/// used again: each then arrives in fresh memory, and small pages take longer than what is copied into them.
///
/// A block of memory serves again when nobody refers to any message in it. One caller at a time; what was
/// taken may be let go on any thread, also when this is gone.
class arrival_memory {
 public:
  /// What is not initialised, for `bytes` bytes.
  [[nodiscard]] std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  struct block;
  [[nodiscard]] std::shared_ptr<block> free_block(std::size_t bytes);

  std::vector<std::shared_ptr<block>> blocks_;  // the latest one first
  std::size_t used_ = 0;                        // of the latest one
};

}  // namespace skel::transport
