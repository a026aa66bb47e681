// Cuts an object into shards, in the memory of one stripe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/storage/coder.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

/// A buffer of consecutive blocks, aligned for the kernels, each followed by room for a hash.
class stripe_buffer {
 public:
  stripe_buffer() = default;
  explicit stripe_buffer(std::size_t block_bytes);
  [[nodiscard]] std::byte* data() noexcept;
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Writes the shards of one object, with header, hashes and footer. The same object gives the same
/// bytes, independent of the kernel and of the sizes of write() calls.
///
///     skel::storage::object_writer w(info, {to_disk_0, to_disk_1, …});
///     w.write(state);
///     w.finish();
class object_writer {
 public:
  /// Takes one sink per shard; an empty sink omits its shard. Throws usage_error if the object's
  /// name is invalid.
  object_writer(object_info object, std::vector<byte_sink> shards, kernel with = default_kernel());

  /// Appends the next bytes. Throws std::length_error beyond object.length.
  void write(std::span<std::byte const> bytes);
  /// Throws std::length_error if bytes are missing.
  void finish();
  /// The hash of the bytes written so far; after finish(), the object's hash in the footers.
  [[nodiscard]] hash128 object_hash() const { return object_hash_.value(); }

 private:
  struct shard {
    byte_sink to;
    hash128 header;
    stripe_buffer block;
    skel::xxh3_128_hasher hashes;
  };
  void write_stripe();

  object_info object_;
  coder coder_;
  std::vector<shard> shards_;
  block_hasher hasher_;
  skel::xxh3_128_hasher object_hash_;
  std::uint64_t stripe_ = 0, written_ = 0;
  std::size_t filled_ = 0;  // bytes of the current stripe
};

}  // namespace skel::storage
