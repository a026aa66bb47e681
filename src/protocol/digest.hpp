// A hash of a role's state, for counting the reachable states of a protocol.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "fields.hpp"

namespace skel::role {

/// Takes numbers, ranges, optional values, variants, pairs, aggregates, and classes with fields(): a tuple of
/// the members that decide what the object does next.
class digest {
 public:
  template <class T>
  digest& add(T const& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      mix(number(x));
    else if constexpr (requires { x.begin(), x.size(); })
      add_all(x);
    else if constexpr (requires { x.has_value(); })
      x ? add(true).add(*x) : add(false);
    else if constexpr (requires { x.valueless_by_exception(); })
      std::visit([&](auto const& own) { add(x.index()).add(own); }, x);
    else if constexpr (requires { std::tuple_size<T>::value; })
      std::apply([&](auto const&... each) { (add(each), ...); }, x);
    else
      add(fields_of(x));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  template <class T>
  static std::uint64_t number(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::uint64_t>(double{x});
    else
      return static_cast<std::uint64_t>(x);
  }
  template <class Range>
  void add_all(Range const& range) {
    for (typename Range::value_type const& x : range) add(x);  // vector<bool> holds no bools
    add(range.size());
  }
  void mix(std::uint64_t x) {
    value_ = (value_ ^ x) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 29;
  }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace skel::role
