// Converts values to bytes and back, by the route of their type.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/detail/route.hpp"
#include "skel/error.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

// A class, so that the message is printed once per type.
template <class T>
struct needs_archives {
  static constexpr bool included = requires { sizeof(archive_codec<T>); };
  static_assert(included,
                "skel: this type has a serialize() function, which needs Boost.Serialization: #include "
                "<skel/serialization.hpp> in the file that sends it.");
};

template <class T>
constexpr bool can_travel_at_all();
template <class Fields>
inline constexpr bool fields_can_travel = true;
template <class... F>
inline constexpr bool fields_can_travel<field_list<F...>> =
    (can_travel_at_all<std::remove_all_extents_t<F>>() && ...);

// Whether T can travel, if it has to; if not, a static_assert explains why.
template <class T, bool Travels = true>
constexpr bool can_travel() {
  static_assert(!Travels || transferable<T> || !holds_address<T>,
                "skel: this type holds an address (pointer, reference, view, iterator), which means nothing "
                "on another rank: send the values, for instance as std::string or std::vector, give the type "
                "a serialize() function that does so, or specialise skel::transfer_traits.");
  static_assert(!Travels || transferable<T> || holds_address<T> || !has_base<T>,
                "skel: this type has a base class, so its fields cannot be found: make the base a member, "
                "give the type a serialize() function, or specialise skel::transfer_traits.");
  if constexpr (Travels && !transferable<T> && plain_struct<T>)
    static_cast<void>(fields_can_travel<fields_of<T>>);
  if constexpr (Travels && route_of<T> == route::archive) static_cast<void>(needs_archives<T>::included);
  return !Travels || transferable<T>;
}
template <class T>
constexpr bool can_travel_at_all() {
  return can_travel<T>();
}

template <class C>
void pack_elements(C const& values, std::vector<std::byte>& out) {
  bytes::put_varint(out, values.size());
  for (typename C::value_type const& v : values) skel::pack(v, out);
}
template <class C>
C unpack_elements(std::span<std::byte const>& in) {
  auto n = bytes::get_varint(in);
  if (n > in.size()) throw protocol_error("a message holds fewer elements than it announces");
  C values;
  for (; n > 0; --n) {
    // The key of a map is const, so it could not be moved from.
    if constexpr (is_pair<typename C::value_type>) {
      using pair = typename C::value_type;
      auto first = skel::unpack<std::remove_const_t<typename pair::first_type>>(in);
      values.insert(values.end(), pair(std::move(first), skel::unpack<typename pair::second_type>(in)));
    } else {
      values.insert(values.end(), skel::unpack<typename C::value_type>(in));
    }
  }
  return values;
}

template <class T>
T unpack_raw_elements(std::span<std::byte const>& in) {
  using element = typename T::value_type;
  auto const n = bytes::get_varint(in);
  if (n > in.size() / sizeof(element))
    throw protocol_error("a message holds fewer elements than it announces");
  auto const bytes = bytes::get_bytes(in, n * sizeof(element));
  T values(n, element{});
  if (n > 0) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

template <class T>
void pack_part(T const& part, std::vector<std::byte>& out) {
  if constexpr (std::is_array_v<T>)
    for (auto const& element : part) pack_part(element, out);
  else
    skel::pack(part, out);
}
template <class T>
void unpack_part(std::span<std::byte const>& in, T& part) {
  if constexpr (std::is_array_v<T>)
    for (auto& element : part) unpack_part(in, element);
  else
    part = skel::unpack<T>(in);
}

template <class T>
void pack_parts(T const& value, std::vector<std::byte>& out) {
  if constexpr (is_optional<T>) {
    bytes::put_raw(out, value.has_value());
    if (value) skel::pack(*value, out);
  } else if constexpr (is_variant<T>) {
    if (value.valueless_by_exception()) throw error("a variant without a value cannot be sent");
    bytes::put_varint(out, value.index());
    std::visit([&](auto const& v) { skel::pack(v, out); }, value);
  } else if constexpr (is_array<T>) {
    for (auto const& v : value) skel::pack(v, out);
  } else if constexpr (plain_struct<T>) {
    visit_fields<field_count<T>>(value, [&](auto const&... f) { (pack_part(f, out), ...); });
  } else {
    std::apply([&](auto const&... v) { (skel::pack(v, out), ...); }, value);
  }
}

template <class V>
V unpack_variant(std::span<std::byte const>& in) {
  auto const index = bytes::get_varint(in);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::optional<V> value;
    static_cast<void>((
        (index == I &&
         (value.emplace(std::in_place_index<I>, skel::unpack<std::variant_alternative_t<I, V>>(in)), true)) ||
        ...));
    if (!value) throw protocol_error("a message holds an alternative that its variant does not have");
    return std::move(*value);
  }(std::make_index_sequence<std::variant_size_v<V>>{});
}

template <class T>
T unpack_parts(std::span<std::byte const>& in) {
  if constexpr (is_optional<T>) {
    if (!skel::unpack<bool>(in)) return std::nullopt;
    return T(skel::unpack<typename T::value_type>(in));
  } else if constexpr (is_variant<T>) {
    return unpack_variant<T>(in);
  } else if constexpr (is_array<T>) {
    T value{};
    for (auto& v : value) v = skel::unpack<typename T::value_type>(in);
    return value;
  } else if constexpr (plain_struct<T>) {
    T value{};
    visit_fields<field_count<T>>(value, [&](auto&... f) { (unpack_part(in, f), ...); });
    return value;
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{skel::unpack<std::remove_const_t<std::tuple_element_t<I, T>>>(in)...};  // left to right
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

}  // namespace detail

template <transferable T>
void pack(T const& value, std::vector<std::byte>& out) {
  constexpr auto route = detail::route_of<T>;
  if constexpr (route == detail::route::traits) {
    transfer_traits<T>::pack(value, out);
  } else if constexpr (route == detail::route::raw) {
    bytes::put_raw(out, value);
  } else if constexpr (route == detail::route::raw_elements) {
    bytes::put_varint(out, value.size());
    bytes::put_bytes(out, value.data(), value.size() * sizeof(typename T::value_type));
  } else if constexpr (route == detail::route::elements) {
    detail::pack_elements(value, out);
  } else if constexpr (route == detail::route::parts) {
    detail::pack_parts(value, out);
  } else if constexpr (detail::needs_archives<T>::included) {
    detail::archive_codec<T>::pack(value, out);
  }
}

template <transferable T>
std::size_t packed_size(T const& value) {
  constexpr auto route = detail::route_of<T>;
  if constexpr (detail::tells_size<T>)
    return transfer_traits<T>::size(value);
  else if constexpr (route == detail::route::raw)
    return sizeof(T);
  else if constexpr (route == detail::route::raw_elements)
    return bytes::most_varint + value.size() * sizeof(typename T::value_type);
  else
    return 0;
}

template <transferable T>
T unpack(std::span<std::byte const>& in) {
  constexpr auto route = detail::route_of<T>;
  if constexpr (route == detail::route::traits) {
    return transfer_traits<T>::unpack(in);
  } else if constexpr (std::is_same_v<T, bool>) {
    return bytes::get_raw<unsigned char>(in) != 0;  // a bool must not be made from any other byte
  } else if constexpr (route == detail::route::raw) {
    return bytes::get_raw<T>(in);
  } else if constexpr (route == detail::route::raw_elements) {
    return detail::unpack_raw_elements<T>(in);
  } else if constexpr (route == detail::route::elements) {
    return detail::unpack_elements<T>(in);
  } else if constexpr (route == detail::route::parts) {
    return detail::unpack_parts<T>(in);
  } else if constexpr (detail::needs_archives<T>::included) {
    return detail::archive_codec<T>::unpack(in);
  }
}

template <transferable T>
T unpack(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
  if constexpr (detail::refers_to_message<T>)
    return transfer_traits<T>::unpack(in, owner);
  else
    return skel::unpack<T>(in);
}

}  // namespace skel
