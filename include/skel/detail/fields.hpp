// The fields of a plain struct: their number, found by list-initialisation, and references to them,
// by structured bindings, as in Boost.PFR.
#pragma once

#include <boost/preprocessor/arithmetic/inc.hpp>
#include <boost/preprocessor/repetition/enum_params.hpp>
#include <boost/preprocessor/repetition/repeat.hpp>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace skel::detail {

/// The fields of a plain struct are counted up to this number.
inline constexpr int most_fields = 32;

// An unnamed class may be an anonymous one, whose members belong to the class around it.
template <class T>
constexpr bool is_unnamed() {
  std::string_view const name = __PRETTY_FUNCTION__;
  for (auto const* const kind : {"<unnamed struct", "<unnamed class", "(anonymous struct", "(anonymous class",
                                 "(unnamed struct", "(unnamed class"})
    if (name.find(kind) != std::string_view::npos) return true;
  return false;
}

// Convert to any field; to a base class of T; to a field that may not be bound to a name.
struct any_field {
  template <class U>
  operator U() const;  // NOLINT(google-explicit-constructor)
};
template <class T>
struct base_of {
  template <class U>
    requires std::is_base_of_v<U, T>
  operator U() const;  // NOLINT(google-explicit-constructor)
};
struct unbound_field {
  template <class U>
    requires(std::is_union_v<U> || (std::is_class_v<U> && is_unnamed<U>()))
  operator U() const;  // NOLINT(google-explicit-constructor)
};

template <class T>
inline constexpr bool has_base = std::is_aggregate_v<T> && requires { T{base_of<T>{}}; };

// The number of fields if each can be initialised from {} and bound to a name, otherwise 0. An array is
// one field.
template <class T>
constexpr int count_fields() {
#define SKEL_NOTHING(z, i, unused) {},
#define SKEL_FIELD(z, n, unused)                                                          \
  if constexpr (requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ) unbound_field{}}; })  \
    return 0;                                                                             \
  else if constexpr (!requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ){}}; })          \
    return requires { T{BOOST_PP_REPEAT_##z(n, SKEL_NOTHING, ) any_field{}}; } ? 0 : (n); \
  else
  BOOST_PP_REPEAT(BOOST_PP_INC(32), SKEL_FIELD, )  // NOLINT(bugprone-branch-clone)
#undef SKEL_FIELD
#undef SKEL_NOTHING
  return 0;
}
template <class T>
inline constexpr int field_count = count_fields<T>();

// Before version 16, clang accepts no structured binding in a requires expression, so it cannot detect
// bit-fields. They are usual in types that travel as their bytes, whose fields are not needed.
#if defined(__clang__) && __clang_major__ < 16
#define SKEL_CAN_VISIT(...) true
template <class T>
inline constexpr bool may_hold_bit_fields = std::is_trivially_copyable_v<T>;
#else
#define SKEL_CAN_VISIT(...) (requires { visit(__VA_ARGS__); })
template <class T>
inline constexpr bool may_hold_bit_fields = false;
#endif

/// Calls `visit(fields...)`, with references to the fields in their order.
template <int Count, class T, class Visit>
constexpr decltype(auto) visit_fields(T& value, Visit&& visit) {
#define SKEL_BIND(z, n, unused)                                                  \
  if constexpr (Count == BOOST_PP_INC(n)) {                                      \
    auto& [BOOST_PP_ENUM_PARAMS_Z(z, BOOST_PP_INC(n), f)] = value;               \
    if constexpr (SKEL_CAN_VISIT(BOOST_PP_ENUM_PARAMS_Z(z, BOOST_PP_INC(n), f))) \
      return visit(BOOST_PP_ENUM_PARAMS_Z(z, BOOST_PP_INC(n), f));               \
  } else
  BOOST_PP_REPEAT(32, SKEL_BIND, ) {}
#undef SKEL_BIND
#undef SKEL_CAN_VISIT
}

template <class... F>
struct field_list {};
struct list_fields {
  template <class... F>
  constexpr field_list<F...> operator()(F&...) const {
    return {};
  }
};

// field_list<...>; void if a field is a bit-field, to which no reference can be bound.
template <class T>
using fields_of = decltype(visit_fields<field_count<T>>(std::declval<T&>(), list_fields{}));

template <class List>
inline constexpr bool can_assign = false;
template <class... F>
inline constexpr bool can_assign<field_list<F...>> =
    (std::is_assignable_v<std::remove_all_extents_t<F>&, std::remove_all_extents_t<F>> && ...);

template <class T>
constexpr bool is_plain_struct() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || requires { std::tuple_size<T>::value; })
    return false;  // NOLINT(bugprone-branch-clone): in this order
  else if constexpr (!requires { T{}; } || has_base<T> || may_hold_bit_fields<T>)
    return false;
  else if constexpr (field_count<T> == 0)
    return false;
  else
    return can_assign<fields_of<T>>;
}
/// Satisfied by an aggregate without base classes, of 1 to most_fields fields that can be read and
/// assigned one by one.
template <class T>
concept plain_struct = is_plain_struct<T>();

}  // namespace skel::detail
