// An object in a store, and which part of a generation it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "skel/hash.hpp"
#include "skel/storage/code.hpp"

namespace skel::storage {

using skel::hash128;
/// Receives bytes in order.
using byte_sink = std::function<void(std::span<std::byte const>)>;
/// Receives warnings, `path: what is wrong`.
using report_problem = std::function<void(std::string const&)>;
/// Receives the number of bytes processed since the last call, for progress.
using count_bytes = std::function<void(std::uint64_t)>;

/// An upper bound on object_info::block_size in bytes.
inline constexpr std::size_t largest_block = 1U << 24U;
/// An upper bound on the length of an object's name in bytes.
inline constexpr std::size_t longest_name = 200;

/// How an object was encrypted before it was coded.
enum class sealing : std::uint8_t {
  none = 0,               ///< not encrypted
  xchacha20_poly1305 = 1  ///< with a key, in blocks
};

/// The place of an object among those that were saved at the same moment
/// (skel/storage/generation.hpp).
struct membership {
  std::uint64_t stamp = 0;     ///< of the save
  std::uint64_t identity = 0;  ///< identity::hash() of the writer
  std::uint32_t part = 0;      ///< 0 to parts - 1; or parts: the manifest
  std::uint32_t parts = 0;     ///< 0: the object belongs to no generation
  std::uint64_t machine = 0;   ///< this_machine() of the writer
  /// The generation to whose parts this one's are appended; 0: none.
  std::uint64_t base = 0;
  std::uint64_t base_stamp = 0;  ///< of its save

  friend bool operator==(membership const&, membership const&) = default;
};

/// The header that all shards of an object share.
struct object_info {
  std::string name;                      ///< see check_name()
  std::uint64_t generation = 0;          ///< its number
  storage::code code{"ida:1,1"};         ///< the erasure code
  std::uint64_t length = 0;              ///< bytes that are coded, after encryption
  std::uint64_t content_length = 0;      ///< bytes of the user's data
  std::uint32_t block_size = 1U << 16U;  ///< of full blocks; 1 to largest_block
  sealing sealed = sealing::none;        ///< how it was encrypted
  membership belongs_to{};               ///< its place in a generation

  friend bool operator==(object_info const&, object_info const&) = default;

  /// The number of stripes. All blocks are full but those of the last stripe, which are as short as
  /// possible.
  [[nodiscard]] std::uint64_t stripes() const;
  /// The size of the blocks of a stripe in bytes.
  [[nodiscard]] std::size_t block_bytes(std::uint64_t stripe) const;
  /// The bytes of data in a stripe: m blocks, less in the last stripe.
  [[nodiscard]] std::size_t stripe_bytes(std::uint64_t stripe) const;
  /// The bytes of all blocks of one shard, without hashes.
  [[nodiscard]] std::uint64_t shard_bytes() const;

  /// Throws usage_error for a name that is empty, longer than longest_name, begins with a dot, or
  /// contains characters below 0x20 or a slash.
  static void check_name(std::string const& name);
};

}  // namespace skel::storage
