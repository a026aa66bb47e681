// A floating-point sum that is exact until it is read: the same bits for every order of the terms,
// number of ranks, schedule and loss.
//
//     skel::reproducible_sum<double> total;
//     skel::farm(
//         ctx, skel::indices(1000),
//         [](std::uint64_t i) {
//           skel::reproducible_sum<double> part;
//           for (double x : samples(i)) part += x;
//           return part;
//         },
//         skel::schedule::guided{}, skel::reduced(total, std::plus<>()));
//     double const sum = total.value();  // on the root
//
// The sum is kept in an accumulator as wide as the range of double [Neal15]. Arrays are reduced to a
// few exact numbers first [RumpOgitaOishi08]. docs/measurements/reproducible_sum.md has the cost.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/sink.hpp"
#include "skel/transfer_traits.hpp"

namespace skel {

namespace detail {

/// The exact sum of doubles: an integer in units of 2^-1074, in digits of 32 bits. A digit has room
/// for the carries of 2^30 additions.
class exact_sum {
 public:
  void add(double x);
  void add(std::span<double const> terms);
  void add(std::span<float const> terms);
  void add(exact_sum const& other);
  /// Rounds once, to nearest, ties to even. `precision`: bits of a mantissa; `lowest`: the exponent of
  /// the smallest positive number.
  [[nodiscard]] double round(int precision, int lowest) const;
  void pack(std::vector<std::byte>& out) const;
  [[nodiscard]] static exact_sum unpack(std::span<std::byte const>& in);
  [[nodiscard]] bool equals(exact_sum const& other) const;

 private:
  void carry();
  void add_one_by_one(std::span<double const> terms);

  static constexpr std::size_t digits = 68;  // 2098 bits of double, and carries
  std::array<std::int64_t, digits> digit_{};
  std::uint32_t pending_ = 0;  // additions since carry()
  std::uint8_t special_ = 0;   // not finite terms: infinities of either sign, NaN
};

}  // namespace detail

/// The exact sum of any number of T (below 2^63), rounded once by value(). Takes 552 bytes. Can be
/// sent, and is an exact merge for skel::reduced. Infinities and NaN count as in IEEE 754: the sum of
/// both infinities is NaN. The sum of no terms, and of zeros of any sign, is +0. Terms that overflow
/// on the way to a finite sum do no harm. Requires the default floating-point environment.
template <std::floating_point T>
  requires(std::same_as<T, double> || std::same_as<T, float>)
class reproducible_sum {
 public:
  using value_type = T;  ///< the type of the terms
  /// The sum of no terms.
  reproducible_sum() = default;
  /// The sum of one term.
  explicit reproducible_sum(T term) { *this += term; }
  /// Adds a term.
  reproducible_sum& operator+=(T term) {
    sum_.add(static_cast<double>(term));
    return *this;
  }
  /// Adds the terms of another sum.
  reproducible_sum& operator+=(reproducible_sum const& other) {
    sum_.add(other.sum_);
    return *this;
  }
  /// Adds all terms. Takes about as long as a plain loop, several times less than adding them one by
  /// one.
  void add(std::span<T const> terms) { sum_.add(terms); }
  /// The sum, rounded to nearest, ties to even.
  [[nodiscard]] T value() const {
    if constexpr (std::same_as<T, double>)
      return sum_.round(53, -1074);
    else
      return static_cast<float>(sum_.round(24, -149));
  }
  /// The terms of both.
  [[nodiscard]] friend reproducible_sum operator+(reproducible_sum a, reproducible_sum const& b) {
    return a += b;
  }
  /// Whether both sums are the same before rounding.
  [[nodiscard]] friend bool operator==(reproducible_sum const& a, reproducible_sum const& b) {
    return a.sum_.equals(b.sum_);
  }

 private:
  friend struct transfer_traits<reproducible_sum>;
  detail::exact_sum sum_;
};

/// Merges of reproducible sums do not depend on their order.
template <class T>
inline constexpr bool exact_merge<reproducible_sum<T>> = true;

/// Equal sums have equal bytes: about 20 for terms of similar size, at most 285.
template <class T>
struct transfer_traits<reproducible_sum<T>> {
  /// Appends the sum.
  static void pack(reproducible_sum<T> const& sum, std::vector<std::byte>& out) { sum.sum_.pack(out); }
  /// Reads a sum. Throws protocol_error for bytes that are none.
  [[nodiscard]] static reproducible_sum<T> unpack(std::span<std::byte const>& in) {
    reproducible_sum<T> sum;
    sum.sum_ = detail::exact_sum::unpack(in);
    return sum;
  }
};

}  // namespace skel
