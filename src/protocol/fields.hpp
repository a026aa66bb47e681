// The fields of a message, an action or a role's state: equality, hash and encoding follow from them.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace skel::role {

struct any_field {
  template <class T>
  operator T() const;  // only for counting
};

template <class T, class... Fields>
constexpr std::size_t field_count() {
  if constexpr (requires { T{Fields{}..., any_field{}}; })
    return field_count<T, Fields..., any_field>();
  else
    return sizeof...(Fields);
}

/// References to the members of an aggregate, in the order of their declaration, or the fields() that a class
/// names.
template <class T>
constexpr auto fields_of(T& t) {
  if constexpr (requires { t.fields(); }) {
    return t.fields();
  } else {
    constexpr auto n = field_count<std::remove_const_t<T>>();
    static_assert(n <= 9, "add a case");
    if constexpr (n == 0) {
      return std::tuple<>();
    } else if constexpr (n == 1) {
      auto& [a] = t;
      return std::tie(a);
    } else if constexpr (n == 2) {
      auto& [a, b] = t;
      return std::tie(a, b);
    } else if constexpr (n == 3) {
      auto& [a, b, c] = t;
      return std::tie(a, b, c);
    } else if constexpr (n == 4) {
      auto& [a, b, c, d] = t;
      return std::tie(a, b, c, d);
    } else if constexpr (n == 5) {
      auto& [a, b, c, d, e] = t;
      return std::tie(a, b, c, d, e);
    } else if constexpr (n == 6) {
      auto& [a, b, c, d, e, f] = t;
      return std::tie(a, b, c, d, e, f);
    } else if constexpr (n == 7) {
      auto& [a, b, c, d, e, f, g] = t;
      return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (n == 8) {
      auto& [a, b, c, d, e, f, g, h] = t;
      return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (n == 9) {
      auto& [a, b, c, d, e, f, g, h, i] = t;
      return std::tie(a, b, c, d, e, f, g, h, i);
    }
  }
}

/// The equality of all messages, actions and parts of a role's state. A namespace inside skel::role names it
/// by a using-declaration.
template <class T>
  requires std::is_aggregate_v<T>
constexpr bool operator==(T const& a, T const& b) {
  return fields_of(a) == fields_of(b);
}

}  // namespace skel::role
