// The key of encrypted checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace skel::storage {

/// False where skel was built without libsodium; then what follows throws usage_error that says so.
[[nodiscard]] bool can_seal() noexcept;

class key {
 public:
  /// 32 bytes, or 64 hexadecimal digits and perhaps a line end. usage_error `path: …`.
  [[nodiscard]] static key read(std::string const& path);
  explicit key(std::span<std::byte const, 32> bytes);
  ~key();
  key(key const&) = default;
  key& operator=(key const&) = default;

  [[nodiscard]] std::span<std::byte const, 32> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, 32> bytes_;
};

}  // namespace skel::storage
