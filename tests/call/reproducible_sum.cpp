// Reproducible sums against exact integers of Boost.Multiprecision.
#include "skel/reproducible_sum.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "farm/over_hub.hpp"
#include "skel/skel.hpp"
#include "values.hpp"

namespace {

using boost::multiprecision::cpp_int;
using numbers = std::vector<double>;
using test::infinity, test::nan_value;

// The terms' sum in units of 2^-1074, rounded by hand: independent of the accumulator's digits.
template <class T>
T exact(std::vector<T> const& terms) {
  cpp_int sum = 0;
  for (double const x : terms) {
    if (x == 0) continue;
    int exponent = 0;
    auto const mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    int const shift = exponent - 53 + 1074;
    sum += shift >= 0 ? cpp_int(mantissa) << shift : cpp_int(mantissa / (std::int64_t{1} << -shift));
  }
  bool const negative = sum < 0;
  if (negative) sum = -sum;
  if (sum == 0) return 0;
  constexpr int precision = std::numeric_limits<T>::digits;
  constexpr int lowest = std::numeric_limits<T>::min_exponent - precision;
  int const drop = std::max({static_cast<int>(msb(sum)) + 1 - precision, lowest + 1074, 0});
  cpp_int kept = sum >> drop;
  cpp_int const twice_left = (sum - (kept << drop)) * 2, unit = cpp_int(1) << drop;
  if (twice_left > unit || (twice_left == unit && (kept & 1) != 0)) ++kept;
  auto const value = static_cast<T>(std::ldexp(kept.convert_to<double>(), drop - 1074));
  return negative ? -value : value;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;  // NOLINT(bugprone-suspicious-memory-comparison): zeros, NaN
}

template <class T>
skel::reproducible_sum<T> one_by_one(std::vector<T> const& terms) {
  skel::reproducible_sum<T> sum;
  for (T const x : terms) sum += x;
  return sum;
}
template <class T>
skel::reproducible_sum<T> as_array(std::vector<T> const& terms) {
  skel::reproducible_sum<T> sum;
  sum.add(terms);
  return sum;
}

template <class T>
void check(std::vector<T> terms, std::mt19937_64& dice) {
  T const expected = exact(terms);
  auto const first = one_by_one(terms);
  CHECK(same_bits(first.value(), expected));
  std::vector<std::byte> bytes;
  skel::pack(first, bytes);
  for (int i = 0; i < 3; ++i) {
    std::shuffle(terms.begin(), terms.end(), dice);
    auto const whole = as_array(terms);
    CHECK(same_bits(whole.value(), expected));
    // Cut anywhere, and merged in another order.
    auto const cut = static_cast<std::ptrdiff_t>(dice() % (terms.size() + 1));
    auto const merged = as_array(std::vector<T>(terms.begin() + cut, terms.end())) +
                        as_array(std::vector<T>(terms.begin(), terms.begin() + cut));
    CHECK(merged == first);
    std::vector<std::byte> others;
    skel::pack(merged, others);
    CHECK(others == bytes);
  }
  std::span<std::byte const> in = bytes;
  CHECK(skel::unpack<skel::reproducible_sum<T>>(in) == first);
  CHECK(in.empty());
}

double any_double(std::mt19937_64& dice, int exponents) {
  auto const exponent = static_cast<int>(dice() % static_cast<std::uint64_t>(exponents)) - exponents / 2;
  auto const mantissa = static_cast<double>(static_cast<std::int64_t>(dice()) >> 11);
  return std::ldexp(mantissa, std::clamp(exponent - 53, -1126, 960));
}

}  // namespace

TEST_CASE("sums are exact before they are rounded once") {
  std::mt19937_64 dice(1);
  for (int const exponents : {1, 10, 60, 300, 2000})
    for (std::size_t const n : {1U, 7U, 31U, 32U, 33U, 511U, 512U, 513U, 3000U}) {
      numbers terms(n);
      for (auto& x : terms) x = any_double(dice, exponents);
      check(terms, dice);
      // All but a little cancels.
      auto const half = terms;
      for (double const x : half) terms.push_back(-x);
      terms.push_back(std::ldexp(1.0, -1074));
      check(terms, dice);
      std::vector<float> narrow(n);
      for (auto& x : narrow)
        x = static_cast<float>(any_double(dice, std::min(exponents, 100)) * (exponents == 2000 ? 1e-38 : 1));
      check(narrow, dice);
    }
}

TEST_CASE("subnormal numbers, ties and the largest numbers") {
  std::mt19937_64 dice(2);
  double const tiny = std::numeric_limits<double>::denorm_min();
  double const most = std::numeric_limits<double>::max();
  double const half_unit = std::ldexp(1.0, 970);  // of the last place of `most`
  check<double>({}, dice);
  check<double>({0.0, -0.0}, dice);
  CHECK_FALSE(std::signbit(as_array<double>({-0.0}).value()));
  check<double>({tiny, tiny, -tiny}, dice);
  check<double>({1, std::ldexp(1.0, -53)}, dice);  // a tie: to even
  check<double>({1, std::ldexp(1.0, -53), tiny}, dice);
  check<double>({1 + std::ldexp(1.0, -52), std::ldexp(1.0, -53)}, dice);
  check<double>({1, 1e100, 1, -1e100}, dice);
  check<double>({most, most, -most}, dice);  // overflows on the way
  check<double>({most, half_unit, -tiny}, dice);
  check<double>({most, half_unit}, dice);  // rounds to infinity
  check<float>({std::numeric_limits<float>::max(), std::ldexp(1.0F, 103)}, dice);
  check<float>({std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::min()}, dice);
  check(numbers(1000, most), dice);
  check(numbers(1000, -most), dice);
  check(numbers(1000, tiny), dice);
}

TEST_CASE("infinities and NaN count as in IEEE 754, wherever they stand") {
  for (std::size_t const n : {1U, 40U, 1500U})
    for (std::size_t const at : {std::size_t{0}, n / 2, n - 1}) {
      auto const with = [&](double special, double others) {
        numbers terms(n, others);
        terms[at] = special;
        auto const value = as_array(terms).value();
        CHECK(same_bits(value, one_by_one(terms).value()));
        return value;
      };
      for (double const others : {0.0, 1.5, std::numeric_limits<double>::max()}) {
        CHECK(with(infinity, others) == infinity);
        CHECK(with(-infinity, others) == -infinity);
        CHECK(std::isnan(with(nan_value, others)));
        CHECK(std::isnan((as_array<double>({infinity}) + as_array(numbers{others, -infinity})).value()));
      }
    }
}

TEST_CASE("many additions do not overflow a digit") {
  skel::reproducible_sum<double> sum(1.0);
  for (int doubled = 0; doubled < 62; ++doubled) sum += skel::reproducible_sum<double>(sum);
  CHECK(sum.value() == std::ldexp(1.0, 62));
  CHECK(as_array(numbers(100'000, 0.1)) == one_by_one(numbers(100'000, 0.1)));
}

TEST_CASE("bytes that hold no sum are refused") {
  std::vector<std::byte> good;
  skel::pack(skel::reproducible_sum<double>(-1.5), good);
  CHECK(good.size() < 30);
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::span<std::byte const> in(good.data(), n);
    CHECK_THROWS_AS(skel::unpack<skel::reproducible_sum<double>>(in), skel::protocol_error);
  }
  for (std::size_t at = 0; at < 3; ++at) {
    auto bad = good;
    bad[at] = std::byte{255};
    std::span<std::byte const> in = bad;
    CHECK_THROWS_AS(skel::unpack<skel::reproducible_sum<double>>(in), skel::protocol_error);
  }
}

TEST_CASE("a farm merges reproducible sums on any ranks and schedule") {
  auto const term = [](std::uint64_t i) { return std::sin(static_cast<double>(i)) * 1e8; };
  numbers terms(2000);
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = term(i);
  auto const expected = exact(terms);
  for (int const ranks : {1, 3})
    for (auto const* schedule : {"guided", "interleaved", "ring"}) {
      hub::job job(ranks, 2);
      auto const found = job.run_well([&](skel::context& ctx) {
        skel::reproducible_sum<double> total;
        skel::farm(
            ctx, skel::indices(terms.size()),
            [&](std::uint64_t i) { return skel::reproducible_sum<double>(term(i)); },
            skel::any_schedule(schedule), skel::reduced(total, std::plus<>()));
        return total.value();
      });
      CHECK(same_bits(found, expected));
    }
}
