// Values as bytes, for transfer_traits. The put functions append to a vector; the get functions
// read from the front of a span and remove what they read. Reading beyond the end throws
// protocol_error.
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

/// The length of the longest varint in bytes.
inline constexpr std::size_t most_varint = 10;
/// Appends `value` as a varint: 7 bits per byte, the lowest first. Values below 128 take one byte.
void put_varint(std::vector<std::byte>& out, std::uint64_t value);
/// Reads a number written by put_varint(). Throws protocol_error if the bytes end early or the
/// number has more than 64 bits.
[[nodiscard]] std::uint64_t get_varint(std::span<std::byte const>& in);

/// Appends `n` bytes starting at `from`. Compiled once in the library, unlike std::vector::insert,
/// which every user compiles.
void put_bytes(std::vector<std::byte>& out, void const* from, std::size_t n);

/// Appends the length of `text` as a varint, and its characters.
void put_text(std::vector<std::byte>& out, std::string_view text);
/// Reads a text written by put_text().
[[nodiscard]] std::string get_text(std::span<std::byte const>& in);

/// Removes and returns the next `n` bytes. Throws protocol_error if there are fewer.
[[nodiscard]] std::span<std::byte const> get_bytes(std::span<std::byte const>& in, std::uint64_t n);

/// Appends the number of `bytes` as a varint, and the bytes.
void put_block(std::vector<std::byte>& out, std::span<std::byte const> bytes);
/// Reads a block written by put_block() or put_block_by().
[[nodiscard]] std::vector<std::byte> get_block(std::span<std::byte const>& in);

/// Appends a block whose content `put(out)` appends in place. The length takes most_varint bytes.
template <class Put>
void put_block_by(std::vector<std::byte>& out, Put const& put) {
  auto const begin = out.size();
  out.insert(out.end(), most_varint, std::byte{0x80});
  put(out);
  auto n = out.size() - begin - most_varint;
  for (std::size_t i = 0; i < most_varint; ++i, n >>= 7) out[begin + i] |= static_cast<std::byte>(n & 0x7f);
  out[begin + most_varint - 1] &= std::byte{0x7f};  // the last one
}

/// Appends the bytes of `value`, in the byte order of the machine.
template <class T>
  requires std::is_trivially_copyable_v<T>
void put_raw(std::vector<std::byte>& out, T const& value) {
  put_bytes(out, &value, sizeof(T));
}

/// Reads a value written by put_raw(). Accepts any bytes.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T get_raw(std::span<std::byte const>& in) {
  T value;
  std::memcpy(&value, get_bytes(in, sizeof(T)).data(), sizeof(T));
  return value;
}

}  // namespace skel::bytes
