// Little-endian bytes and varints, written and read with bounds checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace skel::bytes {

/// Bytes of the longest varint.
inline constexpr std::size_t most_varint = 10;
void put_varint(std::vector<std::byte>& out, std::uint64_t value);
/// Throws protocol_error when the bytes end early or the number is longer than 64 bits.
[[nodiscard]] std::uint64_t get_varint(std::span<std::byte const>& in);

void put_text(std::vector<std::byte>& out, std::string_view text);
[[nodiscard]] std::string get_text(std::span<std::byte const>& in);

/// The next n bytes of `in`, removed from it. Throws protocol_error when there are fewer.
[[nodiscard]] std::span<std::byte const> get_bytes(std::span<std::byte const>& in, std::uint64_t n);

/// Bytes after their number.
void put_block(std::vector<std::byte>& out, std::span<std::byte const> bytes);
[[nodiscard]] std::vector<std::byte> get_block(std::span<std::byte const>& in);

/// What `put` appends, after the number of its bytes: for what need not be copied once more.
template <class Put>
void put_block_by(std::vector<std::byte>& out, Put const& put) {
  auto const begin = out.size();
  out.insert(out.end(), most_varint, std::byte{0x80});
  put(out);
  auto n = out.size() - begin - most_varint;
  for (std::size_t i = 0; i < most_varint; ++i, n >>= 7) out[begin + i] |= static_cast<std::byte>(n & 0x7f);
  out[begin + most_varint - 1] &= std::byte{0x7f};  // the last one
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void put_raw(std::vector<std::byte>& out, T const& value) {
  auto const* const bytes = reinterpret_cast<std::byte const*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(T));  // a resize would write each byte twice
}

template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T get_raw(std::span<std::byte const>& in) {
  T value;
  std::memcpy(&value, get_bytes(in, sizeof(T)).data(), sizeof(T));
  return value;
}

}  // namespace skel::bytes
