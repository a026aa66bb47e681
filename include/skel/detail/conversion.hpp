// Compile-time checks of a user's callable: its parameters, and conversions that would change a
// value.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "skel/detail/addresses.hpp"
#include "skel/error.hpp"
#include "skel/source.hpp"

namespace skel::detail {

/// Whether an arithmetic To holds every value of From. True for other types, which convert by the
/// rules of C++.
template <class From, class To>
constexpr bool holds_every() {
  using from = std::numeric_limits<From>;
  using to = std::numeric_limits<To>;
  if constexpr (!std::is_arithmetic_v<From> || !std::is_arithmetic_v<To> || std::is_same_v<From, To>)
    return true;
  else if constexpr (std::is_same_v<To, bool>)
    return false;
  else if constexpr (from::is_integer && to::is_integer)
    return to::digits >= from::digits && (to::is_signed || !from::is_signed);
  else if constexpr (from::is_integer)
    return to::digits >= from::digits;
  else
    return !to::is_integer && to::digits >= from::digits && to::max_exponent >= from::max_exponent;
}

/// The same, but allows integers to become narrower: task numbers are small.
template <class From, class To>
constexpr bool holds_small() {
  return holds_every<From, To>() || (std::integral<From> && std::integral<To> && !std::is_same_v<To, bool>);
}

/// The same for numbers of tasks, which need at least 32 bits.
template <class From, class To>
constexpr bool holds_numbers() {
  return holds_every<From, To>() || (holds_small<From, To>() && std::numeric_limits<To>::digits >= 31);
}

/// Throws usage_error if an integer To cannot hold this integer. `what` names the place of the To.
template <class To, class From>
void require_held(char const* what, From const& value) {
  if constexpr (std::integral<From> && std::integral<To> && !holds_every<From, To>()) {
    auto const kept = static_cast<To>(value);
    bool same = static_cast<From>(kept) == value;
    if constexpr (std::is_signed_v<From>)
      same = same && (std::is_signed_v<To> || value >= 0);
    else
      same = same && (std::is_unsigned_v<To> || kept >= 0);
    if (!same)
      throw usage_error(std::string(what) + " cannot hold " + std::to_string(value) +
                        ": expected a wider type");
  }
}

/// An integer, already checked, as an integer To; other values as they are.
template <class To, class From>
constexpr decltype(auto) as_parameter(From const& value) {
  if constexpr (std::integral<From> && std::integral<To>)
    return static_cast<To>(value);
  else
    return (value);
}

/// Whether a source lists consecutive numbers.
template <class R>
inline constexpr bool counts_up = false;
template <class View>
inline constexpr bool counts_up<replicated<View>> = is_counting<View>;
template <>
inline constexpr bool counts_up<task_numbers> = true;

/// Checks the first and last number of a source of consecutive numbers. Other sources: each task is checked
/// when it is converted.
template <class To, class Source>
void require_all_held(char const* what, Source const& source) {
  if constexpr (counts_up<Source>) {
    if (source.size() == 0) return;
    require_held<To>(what, source[0]);
    require_held<To>(what, source[source.size() - 1]);
  }
}

/// A return type that converts to To unchanged. This includes a promoted integer, as in a sum of
/// two shorts.
template <class From, class To>
concept becomes =
    std::is_convertible_v<From, To> && (holds_every<std::remove_cvref_t<From>, To>() || requires(To to) {
      { +to } -> std::same_as<std::remove_cvref_t<From>>;
    });

/// Whether a vector's elements of this type have references: std::vector<bool> holds bits.
template <class T>
concept has_references = !std::same_as<T, bool>;

/// The parameters of a function, or of an object with one operator() that is not a template:
/// `types` is a tuple. Undefined for others, whose parameters cannot be inspected.
template <class F>
struct parameters_of {};
template <class F>
  requires requires { &F::operator(); }
struct parameters_of<F> : parameters_of<decltype(&F::operator())> {};
template <class F>
struct parameters_of<F*> : parameters_of<F> {};
// clang-format off
template <class R, class... P> struct parameters_of<R(P...)> { using types = std::tuple<P...>; };
template <class R, class... P> struct parameters_of<R(P...) noexcept> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...)> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) const> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) &> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) const&> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) noexcept> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) const noexcept> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) & noexcept> : parameters_of<R(P...)> {};
template <class R, class C, class... P> struct parameters_of<R (C::*)(P...) const& noexcept> : parameters_of<R(P...)> {};
// clang-format on

/// The types that a job names; `missing` stands for one that it lacks, which the call reports by a
/// static_assert.
struct missing {};
template <class Job>
constexpr auto named_result() {
  if constexpr (requires { typename Job::result; })
    return std::type_identity<typename Job::result>{};
  else
    return std::type_identity<missing>{};
}
template <class Job>
constexpr auto named_solution() {
  if constexpr (requires { typename Job::solution; })
    return std::type_identity<typename Job::solution>{};
  else
    return std::type_identity<missing>{};
}
template <class Job>
using result_of = typename decltype(named_result<Job>())::type;
template <class Job>
using solution_of = typename decltype(named_solution<Job>())::type;

struct unseen {};  // a parameter that cannot be inspected
template <class F, std::size_t I>
constexpr auto seen_parameter() {
  if constexpr (requires { typename parameters_of<F>::types; }) {
    using types = typename parameters_of<F>::types;
    if constexpr (I < std::tuple_size_v<types>)
      return std::type_identity<std::tuple_element_t<I, types>>{};
    else
      return std::type_identity<unseen>{};
  } else {
    return std::type_identity<unseen>{};
  }
}
/// The I-th parameter of F, which may be a member function pointer, or `unseen`.
template <class F, std::size_t I>
using parameter = typename decltype(seen_parameter<std::remove_cvref_t<F>, I>())::type;

/// Whether F's parameters, if they can be inspected, receive arguments of these types unchanged.
template <class F, class... Arguments>
inline constexpr bool receives = []<std::size_t... I>(std::index_sequence<I...>) {
  return (holds_every<std::remove_cvref_t<Arguments>, std::remove_cvref_t<parameter<F, I>>>() && ...);
}(std::index_sequence_for<Arguments...>{});

/// Whether F's I-th parameter is known to be a copy, so that writes to it are lost.
template <class F, std::size_t I>
inline constexpr bool takes_copy =
    !std::is_reference_v<parameter<F, I>> && !std::is_same_v<parameter<F, I>, unseen>;

}  // namespace skel::detail
