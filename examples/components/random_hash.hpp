// Random numbers without a state: a hash of what they are for.
#pragma once

#include <cstdint>

namespace skel::components {

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014), a bijection of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A random number below n for n of at most 2^32 (Lemire 2019, without his rejection: the bias is n / 2^32).
constexpr std::uint64_t below(std::uint64_t random, std::uint64_t n) { return ((random >> 32) * n) >> 32; }

/// A random permutation of 0 ... 2^bits - 1: multiplications by odd numbers and shifts can be undone.
class permutation_of_bits {
 public:
  permutation_of_bits(unsigned bits, std::uint64_t seed)
      : mask_(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1),
        shift_(bits < 4 ? 1 : bits / 2),
        key_(mix(seed ^ 0x5bd1e995)) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    for (std::uint64_t round = 0; round < 4; ++round) {
      x = ((x ^ key_) * (mix(key_ + round) | 1)) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t key_;
};

/// A random permutation of 0 ... n - 1: of the next power of two, taken again until it falls below n.
class permutation {
 public:
  permutation(std::uint64_t n, std::uint64_t seed) : n_(n), of_bits_(bits_of(n), seed) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    do x = of_bits_(x);
    while (x >= n_);
    return x;
  }

 private:
  static unsigned bits_of(std::uint64_t n) {
    unsigned bits = 1;
    while (bits < 63 && (std::uint64_t{1} << bits) < n) ++bits;
    return bits;
  }
  std::uint64_t n_;
  permutation_of_bits of_bits_;
};

}  // namespace skel::components
