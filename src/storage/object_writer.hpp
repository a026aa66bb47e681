// An object becomes shards, in the memory of one stripe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/storage/coder.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

/// Bytes of blocks one after the other, aligned for the kernels, each with room for a hash behind it.
class stripe_buffer {
 public:
  stripe_buffer() = default;
  explicit stripe_buffer(std::size_t block_bytes);
  [[nodiscard]] std::byte* data() noexcept;
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Writes the shards of one object, with header, hashes and footer. The bytes are the same for the same
/// object, whatever kernel computes them and in whatever pieces the data comes.
///
///     skel::storage::object_writer w(info, {to_disk_0, to_disk_1, …});
///     w.write(state);
///     w.finish();
class object_writer {
 public:
  /// A sink for each shard; an empty one leaves its shard out. usage_error where the object's name is no
  /// name.
  object_writer(object_info object, std::vector<byte_sink> shards, kernel with = default_kernel());

  /// The next bytes of object.length in all; std::length_error where there are more.
  void write(std::span<std::byte const> bytes);
  /// std::length_error where bytes are missing.
  void finish();
  /// Of what was written so far; after finish() the footers' hash of the object.
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
  std::size_t filled_ = 0;  // of the stripe
};

}  // namespace skel::storage
