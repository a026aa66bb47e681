// How a type travels: decided once per type, without including Boost.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "skel/detail/addresses.hpp"
#include "skel/detail/fields.hpp"
#include "skel/transfer_traits.hpp"

namespace boost::serialization {

/// Argument-dependent lookup with a value of this type also searches Boost's namespace, which
/// contains the functions for types of other libraries.
struct skel_version {
  operator unsigned() const { return 0; }  // NOLINT(google-explicit-constructor)
};

}  // namespace boost::serialization

namespace skel::detail {

template <class T>
concept has_transfer_traits =
    requires(T const& value, std::vector<std::byte>& out, std::span<std::byte const>& in) {
      transfer_traits<T>::pack(value, out);
      { transfer_traits<T>::unpack(in) } -> std::convertible_to<T>;
    };

template <class T>
concept tells_size = requires(T const& value) {
  { transfer_traits<T>::size(value) } -> std::convertible_to<std::size_t>;
};

template <class T>
concept refers_to_message =
    requires(std::span<std::byte const>& in, std::shared_ptr<void const> const& owner) {
      { transfer_traits<T>::unpack(in, owner) } -> std::convertible_to<T>;
    };

// Detects a member named serialize, even a private one with `friend class
// boost::serialization::access`: naming it becomes ambiguous with the one of the second base.
struct has_serialize {
  int serialize;
};
template <class T>
struct also_serialize : T, has_serialize {};
template <class T>
concept member_serialize =
    std::is_class_v<T> && !std::is_final_v<T> && !requires { &also_serialize<T>::serialize; };

// Stands for any archive in unevaluated declarations.
namespace archives {
struct some_archive {
  template <class T>
  some_archive& operator&(T const&);
  template <class T>
  some_archive& operator<<(T const&);
  template <class T>
  some_archive& operator>>(T const&);
};
}  // namespace archives
template <class T>
concept public_member_serialize = std::is_class_v<T> && requires(T& value, archives::some_archive& archive) {
  value.serialize(archive, 0U);
};
template <class T>
concept free_serialize = std::is_class_v<T> && requires(T& value, archives::some_archive& archive) {
  serialize(archive, value, 0U);
};
template <class T>
concept own_serialize = member_serialize<T> || public_member_serialize<T> || free_serialize<T>;

// Detects a free function in namespace boost::serialization. Boost's own template there accepts
// every type and archive, so it is a worse match than ours, which accepts this archive only. A
// function that accepts only T is as good as ours, so the call becomes ambiguous.
struct any_archive {};
template <class T>
void serialize(any_archive&, T&, unsigned);
template <class T>
concept boost_serialize =
    std::is_class_v<T> && !requires(T& value, any_archive& archive, boost::serialization::skel_version v) {
      serialize(archive, value, v);
    };

// Containers of the standard library and similar ones, and the other types whose parts are
// inspected.
// clang-format off
template <class T> inline constexpr bool is_pair = false;
template <class A, class B> inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class T> inline constexpr bool is_array = false;
template <class T, std::size_t N> inline constexpr bool is_array<std::array<T, N>> = true;
template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_variant = false;
template <class... T> inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T> inline constexpr bool is_vector = false;
template <class T, class A> inline constexpr bool is_vector<std::vector<T, A>> = true;
template <class A> inline constexpr bool is_vector<std::vector<bool, A>> = false;
template <class T> inline constexpr bool is_string = false;
template <class C, class Tr, class A> inline constexpr bool is_string<std::basic_string<C, Tr, A>> = true;
template <class T> inline constexpr bool is_container = false;
template <template <class...> class C, class T, class... More>
  requires requires(C<T, More...>& c, typename C<T, More...>::value_type& value) {
    typename C<T, More...>::allocator_type;
    c.insert(c.end(), std::move(value));
    c.size();
  }
inline constexpr bool is_container<C<T, More...>> = true;
// clang-format on

// Types whose bytes must not be sent: those that hold addresses, and classes that cannot be
// inspected but define how they travel. Constness decides whether the bytes of a pair may be
// copied.
template <class T>
concept more_than_bytes =
    holds_address<T> || (std::is_class_v<T> && !std::is_aggregate_v<T> && own_serialize<T>) || is_pair<T>;

template <class T>
concept raw_bytes = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                    !std::is_reference_v<T> && !more_than_bytes<T>;

template <class T>
concept contiguous = is_vector<T> || is_string<T>;

template <class T>
concept raw_elements =
    contiguous<T> && raw_bytes<typename T::value_type> && !has_transfer_traits<typename T::value_type>;

/// The ways to travel, see transferable.
enum class route : std::uint8_t { none, traits, raw, raw_elements, elements, parts, archive };
/// `Within`: the structs around a T, which a part of it may be again.
template <class T, class... Within>
constexpr route find_route();
template <class T>
inline constexpr route route_of = find_route<std::remove_const_t<T>>();

// Whether one archive can take a value of T, and whether any part of it needs an archive. A
// container whose elements need one travels in a single archive, since creating an archive takes
// about 1 us.
struct archive_use {
  bool possible = false, needed = false;
};
template <class T>
constexpr archive_use find_archive_use() {
  constexpr auto of_all = [](auto... use) { return archive_use{(use.possible && ...), (use.needed || ...)}; };
  if constexpr (has_transfer_traits<T>) {  // NOLINT(bugprone-branch-clone): in this order
    return {};
  } else if constexpr (raw_bytes<T>) {
    return {std::is_arithmetic_v<T> || std::is_enum_v<T> || own_serialize<T>, false};
  } else if constexpr (uses_boost_serialization<T> || own_serialize<T>) {
    return {true, true};
  } else if constexpr (is_string<T>) {
    return {true, false};
  } else if constexpr (is_pair<T>) {
    return of_all(find_archive_use<std::remove_const_t<typename T::first_type>>(),
                  find_archive_use<std::remove_const_t<typename T::second_type>>());
  } else if constexpr (is_container<T> || is_array<T>) {
    return find_archive_use<typename T::value_type>();
  } else if constexpr (is_tuple<T> || is_optional<T> || is_variant<T>) {
    return {};
  } else {
    return {boost_serialize<T>, boost_serialize<T>};
  }
}

template <class T, class... Within>
constexpr bool part_travels() {
  if constexpr (std::is_array_v<T>)
    return part_travels<std::remove_extent_t<T>, Within...>();
  else if constexpr ((std::is_same_v<T, Within> || ...))
    return true;
  else
    return find_route<std::remove_const_t<T>, Within...>() != route::none;
}

// Whether the template's arguments travel.
template <class T, class... Within>
inline constexpr bool all_travel = false;
template <template <class...> class C, class... T, class... Within>
inline constexpr bool all_travel<C<T...>, Within...> = (part_travels<T, Within...>() && ...);

template <class T, class... Within>
constexpr route find_route() {
  if constexpr (has_transfer_traits<T>) {
    return route::traits;
  } else if constexpr (raw_bytes<T>) {
    return route::raw;
  } else if constexpr (constexpr auto use = find_archive_use<T>(); use.possible && use.needed) {
    return route::archive;
  } else if constexpr (raw_elements<T>) {
    return route::raw_elements;
  } else if constexpr (is_container<T>) {
    return part_travels<typename T::value_type, Within...>() ? route::elements : route::none;
  } else if constexpr (is_array<T>) {
    return part_travels<typename T::value_type, Within...>() ? route::parts : route::none;
  } else if constexpr (is_pair<T> || is_tuple<T> || is_optional<T> || is_variant<T>) {
    return all_travel<T, Within...> ? route::parts : route::none;
  } else if constexpr (plain_struct<T>) {
    return all_travel<fields_of<T>, Within..., T> ? route::parts : route::none;
  } else {
    return route::none;
  }
}

// Defined in skel/serialization.hpp.
template <class T>
struct archive_codec;

}  // namespace skel::detail
