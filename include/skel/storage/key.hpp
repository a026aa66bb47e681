// The key of encrypted checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace skel::storage {

/// Whether skel was built with libsodium.
[[nodiscard]] bool can_seal() noexcept;

/// A key of 32 bytes; its memory is erased when it is destroyed.
class key {
 public:
  /// From a file of 32 bytes, or of 64 hexadecimal digits with an optional line end. Throws a
  /// usage_error `path: reason`, also if can_seal() is false.
  [[nodiscard]] static key read(std::string const& path);
  /// From its bytes.
  explicit key(std::span<std::byte const, 32> bytes);
  ~key();
  key(key const&) = default;
  key& operator=(key const&) = default;

  /// The key's bytes.
  [[nodiscard]] std::span<std::byte const, 32> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, 32> bytes_;
};

}  // namespace skel::storage
