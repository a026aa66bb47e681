// Packing with gaps: what never changes is noted, and its bytes are put in later, by another
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace skel::detail {

struct deferred_value {
  std::size_t offset = 0;             // among the bytes that were packed at once, before which its own belong
  std::shared_ptr<void const> value;  // kept until its bytes are there
  std::size_t size = 0;               // as packed_size() tells
  void (*pack)(void const* value, std::vector<std::byte>& out) = nullptr;
};

/// Bytes, and values whose bytes belong between them, by ascending offsets.
struct deferred_bytes {
  std::vector<std::byte> packed;
  std::vector<deferred_value> deferred;

  /// All bytes, in their order, in the memory of `out`. The values are let go one by one.
  void complete(std::vector<std::byte>& out);
};

/// While one lives, what this thread packs into `into.packed` may be deferred. Nothing else is:
/// neither by other threads nor into other vectors, whose bytes somebody may look at before they
/// are complete.
class packing_may_wait {
 public:
  explicit packing_may_wait(deferred_bytes& into) : outer_(std::exchange(current_, &into)) {}
  ~packing_may_wait() { current_ = outer_; }
  packing_may_wait(packing_may_wait const&) = delete;
  packing_may_wait& operator=(packing_may_wait const&) = delete;

  /// Where to note what would be packed into `out`; nullptr: it is to be packed at once.
  [[nodiscard]] static deferred_bytes* in(std::vector<std::byte> const& out) {
    return current_ != nullptr && &current_->packed == &out ? current_ : nullptr;
  }

 private:
  inline static thread_local constinit deferred_bytes* current_ = nullptr;
  deferred_bytes* outer_;
};

}  // namespace skel::detail
