// For std::visit and the kinds of messages.
#pragma once

#include <type_traits>
#include <variant>

namespace skel {

/// One function object of several.
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

/// Whether the variant, or a variant that it holds, holds one of these alternatives.
template <class... Ts, class... All>
[[nodiscard]] bool holds_any(std::variant<All...> const& v) {
  return std::visit(
      []<class T>(T const& own) {
        if constexpr (requires { std::variant_size<T>::value; })
          return holds_any<Ts...>(own);
        else
          return (std::is_same_v<T, Ts> || ...);
      },
      v);
}

}  // namespace skel
