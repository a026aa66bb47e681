#include "skel/reproducible_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

constexpr int digit_bits = 32;
constexpr std::int64_t digit_mask = 0xffffffff;
constexpr std::uint32_t most_pending = std::uint32_t{1} << 30;
constexpr int mantissa_bits = 52;
constexpr int lowest_bit = -1074;  // the exponent of bit 0 of digit 0
enum special : std::uint8_t { plus_infinity = 1, minus_infinity = 2, not_a_number = 4 };

// Terms that are reduced together. They stay in the first-level cache.
constexpr std::size_t block = 512;
constexpr int block_bits = 9;
// Independent chains of additions: enough to hide their latency with any vector length.
constexpr std::size_t chains = 32;
using chain = std::array<double, chains>;

double largest_of(chain const& c) { return *std::max_element(c.begin(), c.end()); }

// NaN in `b` is ignored.
[[gnu::always_inline]] inline double larger(double a, double b) { return b > a ? b : a; }

[[gnu::always_inline]] inline double largest_by(double const* x, std::size_t n) {
  chain most{};
  for (std::size_t i = 0; i < n; i += chains)
    for (std::size_t c = 0; c < chains; ++c) most[c] = larger(most[c], std::fabs(x[i + c]));
  return largest_of(most);
}

struct extracted {
  double sum = 0;
  double largest_rest = 0;
};

// ExtractVector [RumpOgitaOishi08, §3]: the leading bits of each term relative to `sigma`
// add up without rounding; `rest` receives what is left of each term, exactly.
// Meanwhile the memory at `next` comes into the cache.
[[gnu::always_inline]] inline extracted extract_by(double const* x, double* rest, std::size_t n, double sigma,
                                                   double const* next) {
  chain sums{}, most{};
  constexpr std::size_t line = 8;
  for (std::size_t i = 0; i < n; i += chains) {
    for (std::size_t p = 0; p < chains; p += line) __builtin_prefetch(next + i + p);
    for (std::size_t c = 0; c < chains; ++c) {
      double const leading = (sigma + x[i + c]) - sigma;
      double const left = x[i + c] - leading;
      sums[c] += leading;
      rest[i + c] = left;
      most[c] = larger(most[c], std::fabs(left));
    }
  }
  double sum = 0;
  for (double const s : sums) sum += s;
  return {sum, largest_of(most)};
}

// Both are exact, so the choice of instructions does not change a bit.
struct kernel {
  double (*largest)(double const* x, std::size_t n);
  extracted (*extract)(double const* x, double* rest, std::size_t n, double sigma, double const* next);
};

double largest_portable(double const* x, std::size_t n) { return largest_by(x, n); }
extracted extract_portable(double const* x, double* rest, std::size_t n, double sigma, double const* next) {
  return extract_by(x, rest, n, sigma, next);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] double largest_avx2(double const* x, std::size_t n) { return largest_by(x, n); }
[[gnu::target("avx2")]] extracted extract_avx2(double const* x, double* rest, std::size_t n, double sigma,
                                               double const* next) {
  return extract_by(x, rest, n, sigma, next);
}
[[gnu::target("avx512f")]] double largest_avx512(double const* x, std::size_t n) { return largest_by(x, n); }
[[gnu::target("avx512f")]] extracted extract_avx512(double const* x, double* rest, std::size_t n,
                                                    double sigma, double const* next) {
  return extract_by(x, rest, n, sigma, next);
}
#endif

kernel find_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {largest_avx512, extract_avx512};
  if (__builtin_cpu_supports("avx2")) return {largest_avx2, extract_avx2};
#endif
  return {largest_portable, extract_portable};
}

// The terms, or a copy that zeros fill up.
std::span<double const> in_whole_chains(std::span<double const> terms, std::span<double, block> copy) {
  if (terms.size() % chains == 0) return terms;
  std::ranges::copy(terms, copy.begin());
  auto const whole = copy.first((terms.size() + chains - 1) / chains * chains);
  std::ranges::fill(whole.subspan(terms.size()), 0.0);
  return whole;
}

}  // namespace

void exact_sum::add(double x) {
  auto const raw = std::bit_cast<std::uint64_t>(x);
  auto const exponent = static_cast<unsigned>(raw >> mantissa_bits) & 0x7ffU;
  auto mantissa = raw & ((std::uint64_t{1} << mantissa_bits) - 1);
  if (exponent == 0x7ff) {
    special_ |= mantissa != 0 ? not_a_number : x > 0 ? plus_infinity : minus_infinity;
    return;
  }
  if (exponent != 0) mantissa |= std::uint64_t{1} << mantissa_bits;
  unsigned const place = exponent == 0 ? 0 : exponent - 1;
  auto const at = place / digit_bits;
  unsigned const shift = place % digit_bits;
  // 53 bits, shifted by up to 31, fill three digits.
  constexpr std::uint64_t mask = digit_mask;
  auto const low = (mantissa << shift) & mask;
  auto const above = mantissa >> (digit_bits - shift);
  auto const sign = static_cast<std::int64_t>(raw) >> 63;  // 0 or -1
  auto const put = [&](std::size_t i, std::uint64_t part) {
    digit_[i] += (static_cast<std::int64_t>(part) ^ sign) - sign;
  };
  put(at, low);
  put(at + 1, above & mask);
  put(at + 2, above >> digit_bits);
  if (++pending_ == most_pending) carry();
}

void exact_sum::add_one_by_one(std::span<double const> terms) {
  for (double const x : terms) add(x);
}

void exact_sum::add(std::span<double const> terms) {
  static kernel const fast = find_kernel();
  alignas(64) std::array<double, block> rest;
  int slow_blocks = 0;  // that are added one by one, because their predecessor should have been
  while (!terms.empty()) {
    auto const part = terms.first(std::min(terms.size(), block));
    terms = terms.subspan(part.size());
    constexpr std::size_t few = 32;  // as fast one by one
    if (part.size() < few || slow_blocks > 0) {
      if (slow_blocks > 0) --slow_blocks;
      add_one_by_one(part);
      continue;
    }
    auto const whole = in_whole_chains(part, rest);
    double const* from = whole.data();
    std::size_t const n = whole.size();
    // The sum of all leading parts must fit below sigma, and sigma must not overflow.
    constexpr int most_exponent = std::numeric_limits<double>::max_exponent - block_bits - 4;
    double most = fast.largest(from, n);
    // It is 0 for zeros, and for NaN, which largest() ignores.
    if (most == 0 || !(most < std::ldexp(1.0, most_exponent))) {
      add_one_by_one(part);
      continue;
    }
    constexpr int most_rounds = 3;  // terms of very different sizes are faster one by one
    for (int round = 0; most > 0; ++round) {
      if (round == most_rounds) {
        add_one_by_one(std::span(rest).first(n));
        slow_blocks = 15;
        break;
      }
      double const sigma = std::ldexp(1.0, std::ilogb(most) + block_bits + 2);
      auto const got = fast.extract(from, rest.data(), n, sigma, terms.data());
      if (!std::isfinite(got.sum)) {  // a NaN among the terms
        add_one_by_one(part);
        break;
      }
      add(got.sum);
      from = rest.data();
      most = got.largest_rest;
    }
  }
}

void exact_sum::add(std::span<float const> terms) {
  std::array<double, block> wide;
  while (!terms.empty()) {
    auto const part = terms.first(std::min(terms.size(), block));
    terms = terms.subspan(part.size());
    std::copy(part.begin(), part.end(), wide.begin());
    add(std::span<double const>(wide.data(), part.size()));
  }
}

void exact_sum::add(exact_sum const& other) {
  carry();
  exact_sum right = other;
  right.carry();
  for (std::size_t i = 0; i < digits; ++i) digit_[i] += right.digit_[i];
  special_ |= right.special_;
  pending_ = 1;
}

// Afterwards all digits but the last, which has the sign, are 0 to 2^32 - 1: equal sums have equal
// digits.
void exact_sum::carry() {
  std::int64_t over = 0;
  for (std::size_t i = 0; i + 1 < digits; ++i) {
    auto const sum = digit_[i] + over;
    digit_[i] = sum & digit_mask;
    over = sum >> digit_bits;
  }
  digit_[digits - 1] += over;
  pending_ = 0;
}

double exact_sum::round(int precision, int lowest) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if ((special_ & not_a_number) != 0 || special_ == (plus_infinity | minus_infinity))
    return std::numeric_limits<double>::quiet_NaN();
  if (special_ != 0) return special_ == plus_infinity ? infinity : -infinity;
  exact_sum sum = *this;
  sum.carry();
  bool const negative = sum.digit_[digits - 1] < 0;
  if (negative) {
    for (auto& d : sum.digit_) d = -d;
    sum.carry();
  }
  auto const& d = sum.digit_;
  std::size_t top = digits;
  while (top > 0 && d[top - 1] == 0) --top;
  if (top == 0) return 0;
  --top;
  // The last digit may have more than 32 bits; such sums overflow anyway.
  int const highest = static_cast<int>(top) * digit_bits +
                      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(d[top]))) - 1;
  // The lowest bit that the result has.
  int const last = std::max(highest - precision + 1, lowest - lowest_bit);
  auto const bit = [&](int i) {
    return (d[static_cast<std::size_t>(i / digit_bits)] >> (i % digit_bits)) & 1;
  };
  if (top == digits - 1) return negative ? -infinity : infinity;
  std::uint64_t mantissa = 0;
  for (int i = highest; i >= last; --i) mantissa = 2 * mantissa + static_cast<std::uint64_t>(bit(i));
  if (last > 0 && bit(last - 1) != 0) {
    bool above_half = (mantissa & 1) != 0;  // a tie goes to even
    for (int i = last - 2; i >= 0 && !above_half; --i) above_half = bit(i) != 0;
    if (above_half) ++mantissa;
  }
  double const value = std::ldexp(static_cast<double>(mantissa), last + lowest_bit);
  return negative ? -value : value;
}

bool exact_sum::equals(exact_sum const& other) const {
  exact_sum a = *this, b = other;
  a.carry();
  b.carry();
  return a.digit_ == b.digit_ && a.special_ == b.special_;
}

// The kind, the first digit that is not 0, the number of digits that follow, and these; all digits
// above repeat the sign.
void exact_sum::pack(std::vector<std::byte>& out) const {
  exact_sum sum = *this;
  sum.carry();
  auto const& d = sum.digit_;
  std::size_t first = 0;
  while (first + 1 < digits && d[first] == 0) ++first;
  std::int64_t const sign = d[digits - 1] < 0 ? digit_mask : 0;
  std::size_t end = digits - 1;
  while (end > first && d[end - 1] == sign) --end;
  bytes::put_raw(out, special_);
  bytes::put_raw(out, static_cast<std::uint8_t>(first));
  bytes::put_raw(out, static_cast<std::uint8_t>(end - first));
  for (std::size_t i = first; i < end; ++i) bytes::put_raw(out, static_cast<std::uint32_t>(d[i]));
  bytes::put_raw(out, d[digits - 1]);
}

exact_sum exact_sum::unpack(std::span<std::byte const>& in) {
  exact_sum sum;
  sum.special_ = bytes::get_raw<std::uint8_t>(in);
  std::size_t const first = bytes::get_raw<std::uint8_t>(in);
  std::size_t const count = bytes::get_raw<std::uint8_t>(in);
  if (sum.special_ > 7 || first + count >= digits)
    throw protocol_error("a message does not hold the reproducible_sum that it announces");
  for (std::size_t i = first; i < first + count; ++i) sum.digit_[i] = bytes::get_raw<std::uint32_t>(in);
  auto& last = sum.digit_[digits - 1] = bytes::get_raw<std::int64_t>(in);
  if (last < 0)
    std::fill(sum.digit_.begin() + static_cast<std::ptrdiff_t>(first + count), sum.digit_.end() - 1,
              digit_mask);
  return sum;
}

}  // namespace skel::detail
