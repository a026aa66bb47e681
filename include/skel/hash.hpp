// XXH3 hashes: 64 bits for the report's `result_xxh3`, 128 bits for stored data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace skel {

/// The hash of `bytes` as 16 hexadecimal digits, most significant first, as `xxhsum -H3` prints it.
std::string xxh3_hex(std::span<std::byte const> bytes);

/// Computes the same hash incrementally, from pieces of any sizes.
///
///     skel::xxh3_hasher hasher;
///     for (auto const& row : rows) hasher.update(std::as_bytes(std::span(row)));
///     std::string const hash = hasher.hex();
class xxh3_hasher {
 public:
  xxh3_hasher();
  ~xxh3_hasher();
  xxh3_hasher(xxh3_hasher&&) noexcept;
  xxh3_hasher& operator=(xxh3_hasher&&) noexcept;

  /// Appends `bytes`.
  void update(std::span<std::byte const> bytes);
  /// The hash of all bytes so far. More may follow.
  [[nodiscard]] std::uint64_t value() const;
  /// The same as 16 hexadecimal digits, in the format of xxh3_hex().
  [[nodiscard]] std::string hex() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

namespace detail {
/// Used to compare calls and types between ranks.
[[nodiscard]] std::uint64_t hash_text(std::string_view text);
}  // namespace detail

/// 128 bits, the most significant byte first, as `xxhsum -H2` prints them.
using hash128 = std::array<std::byte, 16>;

/// Computes XXH3 with 128 bits. Detects damage and mistakes, but not forgery, since it has no key.
class xxh3_128_hasher {
 public:
  xxh3_128_hasher();
  ~xxh3_128_hasher();
  xxh3_128_hasher(xxh3_128_hasher&&) noexcept;
  xxh3_128_hasher& operator=(xxh3_128_hasher&&) noexcept;

  /// Appends `bytes`.
  void update(std::span<std::byte const> bytes);
  /// The hash of all bytes so far. More may follow.
  [[nodiscard]] hash128 value() const;
  /// Discards all bytes.
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace skel
