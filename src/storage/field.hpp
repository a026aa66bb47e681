// The field GF(2^8) of 256 elements. A byte is a polynomial over {0, 1}, taken modulo x^8 + x^4 +
// x^3 + x^2 + 1 (0x11d), with generator x = 2. A sum is an exclusive or. ISA-L, zfec, Backblaze,
// klauspost/reedsolomon and redset use the same polynomial.
//
// Checkpoint code lives in the namespace skel::storage, because skel::checkpoint is a user-visible
// name.
#pragma once

#include <array>
#include <cstdint>

namespace skel::storage {

/// An element of the field.
using element = std::uint8_t;

namespace field {

struct field_tables {
  std::array<element, 510> power{};  ///< 2^i, two periods, so that a sum of two logarithms needs no reduction
  std::array<std::uint8_t, 256> logarithm{};
};

constexpr field_tables make_field_tables() {
  constexpr unsigned polynomial = 0x11d;
  field_tables t;
  unsigned x = 1;
  for (unsigned i = 0; i < 255; ++i) {
    t.power[i] = t.power[i + 255] = static_cast<element>(x);
    t.logarithm[x] = static_cast<std::uint8_t>(i);
    x <<= 1U;
    if (x > 255) x ^= polynomial;
  }
  return t;
}

inline constexpr field_tables tables = make_field_tables();

}  // namespace field

[[nodiscard]] constexpr element multiply(element a, element b) noexcept {
  if (a == 0 || b == 0) return 0;
  return field::tables.power[field::tables.logarithm[a] + field::tables.logarithm[b]];
}

/// 1 / a; returns 0 for a = 0.
[[nodiscard]] constexpr element inverse(element a) noexcept {
  return a == 0 ? element{0} : field::tables.power[255U - field::tables.logarithm[a]];
}

/// a^n, with 0^0 = 1.
[[nodiscard]] constexpr element power(element a, unsigned n) noexcept {
  if (n == 0) return 1;
  if (a == 0) return 0;
  return field::tables.power[field::tables.logarithm[a] * (n % 255U) % 255U];
}

}  // namespace skel::storage
