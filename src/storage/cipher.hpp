// Encrypted objects: what is coded is then XChaCha20-Poly1305's output (libsodium's secretstream), in pieces
// of 64 KiB, each authenticated, their order and number too. Sealed before they are coded, objects can be
// verified and repaired without the key; only who has it can read them, or make one that is taken for
// genuine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shard_format.hpp"

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

/// How long `content_length` bytes become. 0 where that would be too long for any file.
[[nodiscard]] std::uint64_t sealed_length(std::uint64_t content_length) noexcept;

/// Turns an object into its sealed form, piece by piece. Name and generation are authenticated with it.
class sealer {
 public:
  sealer(key const& with, object_info const& object, byte_sink to);
  ~sealer();
  sealer(sealer const&) = delete;
  sealer& operator=(sealer const&) = delete;

  void write(std::span<std::byte const> bytes);
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// And back. What it hands on is authentic; whether it is all is known after finish().
class opener {
 public:
  opener(key const& with, object_info const& object, byte_sink to);
  ~opener();
  opener(opener const&) = delete;
  opener& operator=(opener const&) = delete;

  /// skel::error where a piece is not what was sealed with this key under this name and generation.
  void write(std::span<std::byte const> bytes);
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace skel::storage
