// Shared by the tests of codes. Uses neither the field nor the matrices nor the kernels under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

namespace test {

using byte_vector = std::vector<std::byte>;

/// Returns the product modulo 0x11d, computed bit by bit.
inline std::uint8_t slow_product(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1U) {
    if ((b & 1U) != 0) product ^= a;
    a <<= 1U;
    if (a > 255) a ^= 0x11dU;
  }
  return static_cast<std::uint8_t>(product);
}

inline byte_vector random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  byte_vector b(size);
  for (auto& x : b) x = static_cast<std::byte>(random());
  return b;
}

inline byte_vector of(std::vector<int> const& values) {
  byte_vector b;
  b.reserve(values.size());
  for (int const v : values) b.push_back(static_cast<std::byte>(v));
  return b;
}

/// Returns pointers to the pieces.
inline std::vector<std::byte*> pointers(std::vector<byte_vector>& pieces) {
  std::vector<std::byte*> p;
  p.reserve(pieces.size());
  for (auto& piece : pieces) p.push_back(piece.data());
  return p;
}
inline std::vector<std::byte const*> read_only(std::span<std::byte* const> p) { return {p.begin(), p.end()}; }

inline bool long_campaign() { return std::getenv("SKEL_LONG") != nullptr; }  // NOLINT(concurrency-mt-unsafe)

}  // namespace test
