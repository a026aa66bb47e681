// Encrypted objects. The content is encrypted by XChaCha20-Poly1305 (libsodium's secretstream)
// before it is coded. It is cut into pieces of 64 KiB; each piece, the order and the number of
// pieces are authenticated. Verification and repair need no key. Only a holder of the key can read
// an object or create one that is accepted as genuine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "skel/error.hpp"
#include "skel/storage/key.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

/// The sealed length of `content_length` bytes. Returns 0 if it exceeds the size of any file.
[[nodiscard]] std::uint64_t sealed_length(std::uint64_t content_length) noexcept;

/// Data was not sealed with this key under this name, or was altered.
class wrong_key : public error {
 public:
  using error::error;
};

/// Encrypts or decrypts an object piece by piece. The object's name, generation and membership are
/// authenticated with it. Decrypted bytes that are handed on are authentic; finish() checks that they are
/// complete.
template <class State>
class piecewise_cipher {
 public:
  piecewise_cipher(key const& with, object_info const& object, byte_sink to);
  ~piecewise_cipher();
  piecewise_cipher(piecewise_cipher const&) = delete;
  piecewise_cipher& operator=(piecewise_cipher const&) = delete;

  /// Throws wrong_key if a piece to decrypt was not sealed with this key for this object.
  void write(std::span<std::byte const> bytes);
  void finish();

 private:
  std::unique_ptr<State> state_;
};

struct sealing_state;
struct opening_state;
using sealer = piecewise_cipher<sealing_state>;
using opener = piecewise_cipher<opening_state>;

}  // namespace skel::storage
