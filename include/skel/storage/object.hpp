// What is stored: an object, and which part of a generation it is.
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
/// Takes bytes in order.
using byte_sink = std::function<void(std::span<std::byte const>)>;
/// Takes what a user should hear of, `path: what is wrong`, where things go on all the same.
using report_problem = std::function<void(std::string const&)>;
/// Told how many further bytes of an object are done.
using count_bytes = std::function<void(std::uint64_t)>;

inline constexpr std::size_t largest_block = 1U << 24U;
inline constexpr std::size_t longest_name = 200;

/// How the object was encrypted before it was coded.
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

}  // namespace skel::storage
