// XXH3 of bytes: 64 bits for the report's `result_xxh3`, 128 bits for what is stored.
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

/// The same hash of bytes that come in pieces of any sizes.
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
  /// The hash of the bytes so far; more may follow.
  [[nodiscard]] std::uint64_t value() const;
  /// The same as 16 hexadecimal digits, as xxh3_hex() returns it.
  [[nodiscard]] std::string hex() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

namespace detail {
/// For comparing calls and types between ranks.
[[nodiscard]] std::uint64_t hash_text(std::string_view text);
}  // namespace detail

/// 128 bits, the most significant byte first, as `xxhsum -H2` prints them.
using hash128 = std::array<std::byte, 16>;

/// XXH3 with 128 bits. It detects damage and mistakes, but no forgery, since it has no key.
class xxh3_128_hasher {
 public:
  xxh3_128_hasher();
  ~xxh3_128_hasher();
  xxh3_128_hasher(xxh3_128_hasher&&) noexcept;
  xxh3_128_hasher& operator=(xxh3_128_hasher&&) noexcept;

  /// Appends `bytes`.
  void update(std::span<std::byte const> bytes);
  /// The hash of the bytes so far; more may follow.
  [[nodiscard]] hash128 value() const;
  /// Begins again, with no bytes.
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace skel
