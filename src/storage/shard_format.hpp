// The format of a shard's file. docs/reference/checkpoint.md has it as a table.
//
//   header    describes the object and the shard's part of it; ends with its own hash
//   blocks    each followed by a hash of the header's hash, the block's number, and its bytes
//   footer    a hash of the object, a hash of the shard, and a hash of these two and the header's
//
// Fixed widths, little-endian. The data is cut into stripes of m blocks; block i of a stripe
// belongs to shard i. A stream of any length is therefore coded in the memory of one stripe, and a
// bad block costs one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skel/hash.hpp"
#include "skel/storage/object.hpp"

namespace skel::storage {

inline constexpr std::uint32_t shard_schema = 1;
/// Marks the parts of a generation with a base, which a reader must not take for the whole content.
inline constexpr std::uint32_t increment_schema = 2;

struct shard_header {
  object_info object;
  std::uint32_t index = 0;

  friend bool operator==(shard_header const&, shard_header const&) = default;

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Decodes the beginning of a file. Throws skel::error that describes the defect; allocates no
  /// more memory than the size of `bytes`.
  [[nodiscard]] static shard_header decode(std::span<std::byte const> bytes);
  /// Upper bound on the length of a header in bytes.
  static constexpr std::size_t longest = 1024;

  /// Returns `NAME.GENERATION.INDEX.shard`, or `NAME.GENERATION.PART-of-PARTS.INDEX.shard` for a
  /// part.
  [[nodiscard]] std::string file_name() const;
};

/// The hash at the end of the header.
[[nodiscard]] hash128 hash_of(std::span<std::byte const> encoded_header);

/// Hashes blocks; keeps its state between blocks.
class block_hasher {
 public:
  [[nodiscard]] hash128 operator()(hash128 const& header, std::uint64_t stripe,
                                   std::span<std::byte const> block);

 private:
  skel::xxh3_128_hasher hasher_;
};

struct shard_footer {
  hash128 object;  ///< of the hashes of all data blocks, in the order of the data: distinguishes objects with
                   ///< equal headers
  hash128 shard;   ///< of the hashes of this shard's blocks

  static constexpr std::size_t size = 48;
  friend bool operator==(shard_footer const&, shard_footer const&) = default;

  [[nodiscard]] std::vector<std::byte> encode(hash128 const& header) const;
  /// Throws skel::error if its hash is wrong.
  [[nodiscard]] static shard_footer decode(hash128 const& header, std::span<std::byte const, size> bytes);
};

/// Offsets in a shard's file.
struct shard_layout {
  std::uint64_t header_bytes = 0;
  object_info const* object = nullptr;

  [[nodiscard]] std::uint64_t block_at(std::uint64_t stripe) const;
  [[nodiscard]] std::uint64_t footer_at() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return footer_at() + shard_footer::size; }
};

}  // namespace skel::storage
