// Detects types whose bytes mean nothing on another rank, because they hold addresses, possibly
// deep inside.
#pragma once

#include <array>
#include <boost/preprocessor/repetition/repeat.hpp>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <variant>

namespace skel::detail {

template <class T>
constexpr bool find_address();

/// Whether a T holds a pointer, reference, view, iterator or the like. Looks into the standard
/// wrappers and containers, and into aggregates (bases included) of up to 48 members; private
/// members cannot be seen.
template <class T>
inline constexpr bool holds_address = find_address<std::remove_cv_t<T>>();

// Standard class templates that hold what their arguments hold.
template <class T>
struct wrapped {
  static constexpr bool address = false, known = false;
};
template <class... T>
struct wraps {
  static constexpr bool address = (holds_address<T> || ...), known = true;
};
// clang-format off
template <class T> struct wrapped<std::optional<T>> : wraps<T> {};
template <class... T> struct wrapped<std::variant<T...>> : wraps<T...> {};
template <class... T> struct wrapped<std::tuple<T...>> : wraps<T...> {};
template <class A, class B> struct wrapped<std::pair<A, B>> : wraps<A, B> {};
template <class T, std::size_t N> struct wrapped<std::array<T, N>> : wraps<T> {};
template <class T>
  requires requires { typename T::value_type; typename T::allocator_type; }
struct wrapped<T> : wraps<typename T::value_type> {};

// Standard class templates that hold addresses.
template <class T> inline constexpr bool is_address = false;
template <class C, class Tr> inline constexpr bool is_address<std::basic_string_view<C, Tr>> = true;
template <class T, std::size_t N> inline constexpr bool is_address<std::span<T, N>> = true;
template <class T> inline constexpr bool is_address<std::initializer_list<T>> = true;
template <class T, class D> inline constexpr bool is_address<std::unique_ptr<T, D>> = true;
template <class T> inline constexpr bool is_address<std::shared_ptr<T>> = true;
template <class T> inline constexpr bool is_address<std::weak_ptr<T>> = true;
template <class T> inline constexpr bool is_address<std::coroutine_handle<T>> = true;
template <> inline constexpr bool is_address<std::type_index> = true;
template <> inline constexpr bool is_address<std::error_code> = true;
template <> inline constexpr bool is_address<std::error_condition> = true;
// clang-format on

// Detects std::reference_wrapper and std::function by their members: <functional> takes 0.06 s to
// compile.
template <class T>
concept refers = requires(T const& t) {
  { t.get() } -> std::same_as<typename T::type&>;
} || requires(T const& t) {
  { t.target_type() } -> std::same_as<std::type_info const&>;
};

// A view whose arguments are integers, std::ranges::iota_view, holds numbers only, unlike all other
// views. Here and elsewhere, std::ranges' concepts come with <span>, whose constructors need them.
template <class T>
inline constexpr bool is_counting = false;
template <template <class, class> class View, std::integral W, std::integral B>
inline constexpr bool is_counting<View<W, B>> = std::ranges::enable_view<View<W, B>>;

// Convert to any member that holds addresses. There are two, because the constructors of
// std::optional and similar wrappers accept everything that their argument accepts.
struct address_probe {
  template <class U>
    requires(holds_address<U> && !wrapped<U>::known)
  operator U() const;  // NOLINT(google-explicit-constructor)
};
struct wrapped_address_probe {
  template <class U>
    requires(holds_address<U> && wrapped<U>::known)
  operator U() const;  // NOLINT(google-explicit-constructor)
};

// Tests for n = 0, 1, ... whether member n can be initialised from a probe and all members before
// it from {}. A member that is an array, or a class without addresses, passes the probe on to its
// first member.
template <class T>
constexpr bool aggregate_holds_address() {
  // NOLINTBEGIN(bugprone-branch-clone): the same questions for each member
#define SKEL_NOTHING(z, i, unused) {},
#define SKEL_MEMBER(z, n, unused)                                                      \
  if constexpr (                                                                       \
      requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ) address_probe{}}; } ||       \
      requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ) wrapped_address_probe{}}; }) \
    return true;                                                                       \
  else if constexpr (!requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ){}}; })       \
    return false;                                                                      \
  else
  BOOST_PP_REPEAT(48, SKEL_MEMBER, )
#undef SKEL_MEMBER
#undef SKEL_NOTHING
  // NOLINTEND(bugprone-branch-clone)
  return false;
}

template <class T>
constexpr bool find_address() {
  constexpr bool is_one = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
                          std::is_reference_v<T> || is_address<T> || refers<T>;
  if constexpr (std::is_array_v<T>) {
    return holds_address<std::remove_extent_t<T>>;
  } else if constexpr (wrapped<T>::known) {
    return wrapped<T>::address;
  } else if constexpr (is_one || (!std::is_class_v<T> && !std::is_union_v<T>) || is_counting<T>) {
    return is_one;
  } else {
    constexpr bool looks_at_others = std::ranges::enable_view<T> || std::input_or_output_iterator<T>;
    if constexpr (!looks_at_others && std::is_aggregate_v<T> && std::is_trivially_copyable_v<T>)
      return aggregate_holds_address<T>();
    else
      return looks_at_others;
  }
}

}  // namespace skel::detail
