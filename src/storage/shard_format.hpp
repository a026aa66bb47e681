// What stands in a shard's file. docs/checkpoint.md has it as a table.
//
//   header    what is stored, and which part of it this is; ends with its own hash
//   blocks    each followed by a hash of the header's hash, the block's number, and its bytes
//   footer    a hash of the object, a hash of the shard, and a hash of these two and the header's
//
// Fixed widths, little-endian. The data is cut into stripes of m blocks; block i of a stripe belongs to shard
// i. So a stream of any length is coded in the memory of one stripe, and a bad block costs one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "skel/hash.hpp"
#include "skel/storage/code.hpp"

namespace skel::storage {

using skel::hash128;
/// Takes bytes in order.
using byte_sink = std::function<void(std::span<std::byte const>)>;
/// Takes what a user should hear of, `path: what is wrong`, where things go on all the same.
using report_problem = std::function<void(std::string const&)>;
/// Told how many further bytes of an object are done.
using count_bytes = std::function<void(std::uint64_t)>;

inline constexpr std::uint32_t shard_schema = 1;
inline constexpr std::size_t largest_block = 1U << 24U;
inline constexpr std::size_t longest_name = 200;

/// How the object was encrypted before it was coded, see cipher.hpp.
enum class sealing : std::uint8_t { none = 0, xchacha20_poly1305 = 1 };

/// Which part of what an object is, where several were saved at the same moment (generation.hpp).
struct membership {
  std::uint64_t stamp = 0;     ///< of the save
  std::uint64_t identity = 0;  ///< hash of who saved
  std::uint32_t part = 0;      ///< 0 to parts - 1; or parts: the manifest
  std::uint32_t parts = 0;     ///< 0: the object stands alone

  friend bool operator==(membership const&, membership const&) = default;
};

/// The same in all shards of an object.
struct object_info {
  std::string name;
  std::uint64_t generation = 0;
  storage::code code{"ida:1,1"};
  std::uint64_t length = 0;              ///< bytes that are coded: of the sealed object where it is sealed
  std::uint64_t content_length = 0;      ///< bytes of what the user has stored
  std::uint32_t block_size = 1U << 16U;  ///< of full blocks; 1 to largest_block
  sealing sealed = sealing::none;
  membership belongs_to{};

  friend bool operator==(object_info const&, object_info const&) = default;

  /// All blocks but those of the last stripe are full; the last stripe's are as short as its rest allows.
  [[nodiscard]] std::uint64_t stripes() const;
  [[nodiscard]] std::size_t block_bytes(std::uint64_t stripe) const;
  /// What the data of a stripe amounts to: m blocks, in the last stripe less.
  [[nodiscard]] std::size_t stripe_bytes(std::uint64_t stripe) const;
  /// Of all shards' blocks without hashes, in each file.
  [[nodiscard]] std::uint64_t shard_bytes() const;

  /// usage_error where a name is empty, too long, begins with a dot, or has characters below 0x20 or a slash.
  static void check_name(std::string const& name);
};

struct shard_header {
  object_info object;
  std::uint32_t index = 0;

  friend bool operator==(shard_header const&, shard_header const&) = default;

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// From the beginning of a file. skel::error that says what is wrong; allocates no more than `bytes` holds.
  [[nodiscard]] static shard_header decode(std::span<std::byte const> bytes);
  /// No header is longer.
  static constexpr std::size_t longest = 1024;

  /// `NAME.GENERATION.INDEX.shard`, of a part `NAME.GENERATION.PART-of-PARTS.INDEX.shard`
  [[nodiscard]] std::string file_name() const;
};

/// Ends with the header's hash.
[[nodiscard]] hash128 hash_of(std::span<std::byte const> encoded_header);

/// Hashes of blocks; keeps the state from one to the next.
class block_hasher {
 public:
  [[nodiscard]] hash128 operator()(hash128 const& header, std::uint64_t stripe,
                                   std::span<std::byte const> block);

 private:
  skel::xxh3_128_hasher hasher_;
};

struct shard_footer {
  hash128 object;  ///< of the hashes of all data blocks in the order of the data: tells apart what has the
                   ///< same header
  hash128 shard;   ///< of the hashes of this shard's blocks

  static constexpr std::size_t size = 48;
  friend bool operator==(shard_footer const&, shard_footer const&) = default;

  [[nodiscard]] std::vector<std::byte> encode(hash128 const& header) const;
  /// skel::error where its hash is wrong.
  [[nodiscard]] static shard_footer decode(hash128 const& header, std::span<std::byte const, size> bytes);
};

/// Where things stand in a file.
struct shard_layout {
  std::uint64_t header_bytes = 0;
  object_info const* object = nullptr;

  [[nodiscard]] std::uint64_t block_at(std::uint64_t stripe) const;
  [[nodiscard]] std::uint64_t footer_at() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return footer_at() + shard_footer::size; }
};

}  // namespace skel::storage
