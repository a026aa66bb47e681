#include "skel/bytes.hpp"

#include <array>

#include "skel/error.hpp"

namespace skel::bytes {

void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  if (value < 0x80) {
    out.push_back(static_cast<std::byte>(value));
    return;
  }
  std::array<std::byte, most_varint> bytes;
  std::size_t n = 0;
  for (; value >= 0x80; value >>= 7) bytes[n++] = static_cast<std::byte>(value | 0x80);
  bytes[n++] = static_cast<std::byte>(value);
  out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
}

std::uint64_t get_varint(std::span<std::byte const>& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in.empty()) throw protocol_error("message ends inside a number");
    auto const b = std::to_integer<std::uint64_t>(in.front());
    in = in.subspan(1);
    if (shift == 63 && b > 1) break;
    value |= (b & 0x7f) << shift;
    if (b < 0x80) return value;
  }
  throw protocol_error("message holds a number of more than 64 bits");
}

std::span<std::byte const> get_bytes(std::span<std::byte const>& in, std::uint64_t n) {
  if (n > in.size()) throw protocol_error("message ends early");
  auto const front = in.first(n);
  in = in.subspan(n);
  return front;
}

void put_bytes(std::vector<std::byte>& out, void const* from, std::size_t n) {
  auto const* const bytes = static_cast<std::byte const*>(from);
  out.insert(out.end(), bytes, bytes + n);  // resize() would write each byte twice
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put_varint(out, text.size());
  auto const bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string get_text(std::span<std::byte const>& in) {
  auto const bytes = get_bytes(in, get_varint(in));
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

void put_block(std::vector<std::byte>& out, std::span<std::byte const> bytes) {
  put_varint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> get_block(std::span<std::byte const>& in) {
  auto const bytes = get_bytes(in, get_varint(in));
  return {bytes.begin(), bytes.end()};
}

}  // namespace skel::bytes
