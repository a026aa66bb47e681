// The bound of a branch and bound job: a value of the user's type that threads share, and the number
// in its place that travels between ranks.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace skel {

template <class T>
struct maximise;
template <class T>
struct minimise;

namespace detail {

template <class T>
concept bound_value = (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= sizeof(std::uint64_t)) ||
                      std::same_as<T, float> || std::same_as<T, double>;

template <class T>
constexpr T least_value() {
  static_assert(
      bound_value<T>,
      "skel::ring_steal: the values of a bound must be integers of at most 64 bits, float or double.");
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
}
template <class T>
constexpr T greatest_value() {
  static_assert(
      bound_value<T>,
      "skel::ring_steal: the values of a bound must be integers of at most 64 bits, float or double.");
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? limits::infinity() : limits::max();
}

// Numbers in the order of the values.
inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;
template <std::integral T>
constexpr std::uint64_t number_of(T x) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) ^ sign_bit;
  else
    return x;
}
constexpr std::uint64_t number_of(double x) {
  auto const bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x);  // -0 and 0 are one value
  return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
}
template <class T>
constexpr T value_at(std::uint64_t number) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::bit_cast<double>((number & sign_bit) != 0 ? number ^ sign_bit : ~number));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(number ^ sign_bit));
  else
    return static_cast<T>(number);
}

template <class Bound>
inline constexpr bool grows = true;
template <class T>
inline constexpr bool grows<minimise<T>> = false;

/// The key of a value: it grows as the bound improves.
template <class Bound>
constexpr std::uint64_t key_of(typename Bound::value_type x) {
  return grows<Bound> ? number_of(x) : ~number_of(x);
}

/// The best value that a rank knows.
template <class Bound>
class best_known {
 public:
  using value_type = typename Bound::value_type;
  using parameter = value_type;
  [[nodiscard]] value_type get() const {
    auto const key = key_.load(std::memory_order_relaxed);
    if (key <= key_of<Bound>(Bound::worst)) return Bound::worst;
    return value_at<value_type>(grows<Bound> ? key : ~key);
  }
  void improve(value_type value) {
    if (!Bound::better(value, Bound::worst)) return;  // or a NaN
    auto const better = key_of<Bound>(value);
    auto key = key_.load(std::memory_order_relaxed);
    while (key < better && !key_.compare_exchange_weak(key, better, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::atomic<std::uint64_t>& key() { return key_; }

 private:
  std::atomic<std::uint64_t> key_{0};
};

/// In its place if the job has no bound.
struct no_bound {
  using value_type = void;
  using parameter = no_bound;
};

template <class T>
inline constexpr bool is_bound = false;
template <class T>
inline constexpr bool is_bound<maximise<T>> = true;
template <class T>
inline constexpr bool is_bound<minimise<T>> = true;

/// The bound that a job names; void if it names none.
template <class Job>
struct bound_of_job {
  using type = void;
};
template <class Job>
  requires requires { typename Job::bound; }
struct bound_of_job<Job> {
  static_assert(is_bound<typename Job::bound>,
                "skel::ring_steal: the job's bound must be skel::maximise<T> or skel::minimise<T>.");
  using type = typename Job::bound;
};
template <class Job>
using bound_of = typename bound_of_job<Job>::type;

}  // namespace detail
}  // namespace skel
