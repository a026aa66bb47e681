// Encrypted objects: what is coded is then XChaCha20-Poly1305's output (libsodium's secretstream), in pieces
// of 64 KiB, each authenticated, their order and number too. Sealed before they are coded, objects can be
// verified and repaired without the key; only who has it can read them, or make one that is taken for
// genuine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "skel/storage/key.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

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
