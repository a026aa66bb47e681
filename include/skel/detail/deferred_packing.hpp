// Packing with gaps: immutable values are recorded, and another thread inserts their bytes later.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace skel::detail {

struct deferred_value {
  std::size_t offset = 0;  // position among the bytes packed immediately, before which its bytes belong
  std::shared_ptr<void const> value;  // kept until its bytes are packed
  std::size_t size = 0;               // as returned by packed_size()
  void (*pack)(void const* value, std::vector<std::byte>& out) = nullptr;
};

/// Bytes, and values whose bytes belong between them, by ascending offset.
struct deferred_bytes {
  std::vector<std::byte> packed;
  std::vector<deferred_value> deferred;

  /// Assembles all bytes in order, in the memory of `out`. Releases the values one by one.
  void complete(std::vector<std::byte>& out);
};

/// While an object of this class lives, this thread may defer packing into `into.packed`. Other
/// threads and other vectors are unaffected, because their bytes may be read before they are
/// complete.
class packing_may_wait {
 public:
  explicit packing_may_wait(deferred_bytes& into) : outer_(std::exchange(current_, &into)) {}
  ~packing_may_wait() { current_ = outer_; }
  packing_may_wait(packing_may_wait const&) = delete;
  packing_may_wait& operator=(packing_may_wait const&) = delete;

  /// Returns the recorder for values that would be packed into `out`; nullptr: pack them now.
  [[nodiscard]] static deferred_bytes* in(std::vector<std::byte> const& out) {
    return current_ != nullptr && &current_->packed == &out ? current_ : nullptr;
  }

 private:
  inline static thread_local constinit deferred_bytes* current_ = nullptr;
  deferred_bytes* outer_;
};

}  // namespace skel::detail
