// The codec for all messages: structs whose members are numbers, texts, ranges, or lists of these.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "call_message.hpp"
#include "fields.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::role {

/// A skeleton's message is `std::variant<call_message, its own structs...>`. Specialised for each:
/// the kind byte of its first own struct. The kinds of two skeletons do not overlap, so a rank in
/// another skeleton is detected.
template <class Message>
inline constexpr unsigned first_kind = 0;

template <class Message>
concept skeleton_message = first_kind<Message> >= std::variant_size_v<call_message>;

namespace codec {

template <class T>
concept number = std::integral<T> || std::is_enum_v<T>;

template <number T>
void put(T x, std::vector<std::byte>& out) {
  bytes::put_varint(out, static_cast<std::uint64_t>(x));
}
inline void put(std::string const& text, std::vector<std::byte>& out) { bytes::put_text(out, text); }
inline void put(outcome const& o, std::vector<std::byte>& out) { encode(o, out); }
inline void put(std::span<std::byte const> block, std::vector<std::byte>& out) {
  bytes::put_block(out, block);
}
inline void put(std::vector<std::byte> const& block, std::vector<std::byte>& out) {
  bytes::put_block(out, block);
}
// Many values are 0, and in many others the low bits are: these bits come last.
inline void put(double x, std::vector<std::byte>& out) {
  bytes::put_varint(out, __builtin_bswap64(std::bit_cast<std::uint64_t>(x)));
}
template <class T>
void put(std::optional<T> const& x, std::vector<std::byte>& out);
template <class T>
void put(std::vector<T> const& list, std::vector<std::byte>& out);
template <class T>
  requires std::is_aggregate_v<T>
void put(T const& t, std::vector<std::byte>& out) {
  std::apply([&](auto const&... field) { (put(field, out), ...); }, fields_of(t));
}
template <class T>
void put(std::optional<T> const& x, std::vector<std::byte>& out) {
  put(x.has_value(), out);
  if (x) put(*x, out);
}
template <class T>
void put(std::vector<T> const& list, std::vector<std::byte>& out) {
  bytes::put_varint(out, list.size());
  for (auto const& x : list) put(x, out);
}

// A value that put() cannot have written is a protocol_error.
template <number T>
void get(T& x, std::span<std::byte const>& in) {
  auto const value = bytes::get_varint(in);
  if constexpr (std::is_same_v<T, bool>) {
    if (value > 1) throw protocol_error("message holds a number out of range");
    x = value == 1;
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(
        requires { last_of(T{}); }, "last_of() must name its last value");
    if (value > static_cast<std::uint64_t>(last_of(T{})))
      throw protocol_error("message holds a number out of range");
    x = static_cast<T>(value);
  } else {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      throw protocol_error("message holds a number out of range");
    x = static_cast<T>(value);
  }
}
inline void get(std::string& text, std::span<std::byte const>& in) { text = bytes::get_text(in); }
inline void get(outcome& o, std::span<std::byte const>& in) { o = decode_outcome(in); }
/// Refers to `in`.
inline void get(std::span<std::byte const>& block, std::span<std::byte const>& in) {
  block = bytes::get_bytes(in, bytes::get_varint(in));
}
inline void get(std::vector<std::byte>& block, std::span<std::byte const>& in) {
  block = bytes::get_block(in);
}
inline void get(double& x, std::span<std::byte const>& in) {
  x = std::bit_cast<double>(__builtin_bswap64(bytes::get_varint(in)));
  if (!std::isfinite(x) || x < 0)
    throw protocol_error("message holds a measure that is negative or not finite");
}
template <class T>
void get(std::optional<T>& x, std::span<std::byte const>& in);
template <class T>
void get(std::vector<T>& list, std::span<std::byte const>& in);
template <class T>
  requires std::is_aggregate_v<T>
void get(T& t, std::span<std::byte const>& in) {
  std::apply([&](auto&... field) { (get(field, in), ...); }, fields_of(t));
  if constexpr (std::is_same_v<T, task_range>) {  // the last task's number must fit
    std::uint64_t span = 0;
    if (t.count == 0 || t.stride == 0 || __builtin_mul_overflow(t.count, t.stride, &span) ||
        __builtin_add_overflow(t.first, span, &span))
      throw protocol_error("message holds an invalid range");
  }
}
template <class T>
void get(std::optional<T>& x, std::span<std::byte const>& in) {
  bool there = false;
  get(there, in);
  x.reset();
  if (there) get(x.emplace(), in);
}
template <class T>
void get(std::vector<T>& list, std::span<std::byte const>& in) {
  auto const n = bytes::get_varint(in);
  if (n > in.size()) throw protocol_error("message ends inside a list");  // each takes at least a byte
  list.clear();
  for (std::uint64_t i = 0; i < n; ++i) get(list.emplace_back(), in);
}

template <class Variant, class Then>
void get_alternative(unsigned index, std::span<std::byte const>& in, Then&& then) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto const one = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
      if (i != index) return false;
      std::variant_alternative_t<i, Variant> m{};
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(m)>, call_message>) get(m, in);
      then(std::move(m));
      return true;
    };
    static_cast<void>((one(std::integral_constant<std::size_t, I>{}) || ...));
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
}

}  // namespace codec

/// Appends the message to `out`: a byte for its kind, then its members in order; numbers are varints.
template <skeleton_message Message>
void encode(Message const& m, std::vector<std::byte>& out) {
  std::visit(
      [&]<class T>(T const& own) {
        if constexpr (std::is_same_v<T, call_message>) {
          out.push_back(static_cast<std::byte>(own.index()));
          std::visit([&](auto const& x) { codec::put(x, out); }, own);
        } else {
          out.push_back(static_cast<std::byte>(first_kind<Message> + m.index() - 1));
          codec::put(own, out);
        }
      },
      m);
}

/// Reads one message from the front of `in` and removes it. Throws protocol_error for bytes that
/// encode() cannot have written. Never allocates more than the size of `in` justifies.
template <skeleton_message Message>
[[nodiscard]] Message decode(std::span<std::byte const>& in) {
  auto const code = std::to_integer<unsigned>(bytes::get_bytes(in, 1)[0]);
  std::optional<Message> read;
  if (code < std::variant_size_v<call_message>)
    codec::get_alternative<call_message>(code, in, [&](auto m) { read = call_message(std::move(m)); });
  else if (code >= first_kind<Message>)
    codec::get_alternative<Message>(code - first_kind<Message> + 1, in,
                                    [&](auto m) { read = Message(std::move(m)); });
  if (!read) throw protocol_error("not a message of this skeleton: all ranks must make the same calls");
  return *std::move(read);
}

}  // namespace skel::role
