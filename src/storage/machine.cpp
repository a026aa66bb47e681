#include "storage/machine.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cfloat>
#include <cstddef>
#include <limits>

#include "skel/storage/machine.hpp"

namespace skel::storage {

namespace {

std::atomic<unsigned> archives{0};

struct property {
  unsigned at, bits;  // in the 64 bits
  char const *before, *after;
};

// Part of the format of shards: new ones take unused bits, and none moves.
constexpr std::array<property, 13> properties = {{{0, 4, "record ", ""},
                                                  {4, 1, "", ""},
                                                  {5, 1, "", ""},
                                                  {6, 1, "", ""},
                                                  {8, 4, "", "-byte int"},
                                                  {12, 4, "", "-byte long"},
                                                  {16, 4, "", "-byte pointers"},
                                                  {20, 4, "", "-byte wchar_t"},
                                                  {24, 8, "", "-byte long double"},
                                                  {32, 8, "", "-bit precision of long double"},
                                                  {40, 4, "", "-byte alignment of double"},
                                                  {44, 4, "", "-byte alignment of long long"},
                                                  {48, 16, "Boost archives of version ", ""}}};

template <class T>
struct in_struct {
  char first;
  T value;
};

std::uint64_t value_of(property const& p, std::uint64_t machine) {
  return machine >> p.at & ((std::uint64_t{1} << p.bits) - 1);
}

std::string in_words(property const& p, std::uint64_t value) {
  switch (p.at) {
    case 4:
      return value == 1 ? "big-endian" : "little-endian";
    case 5:
      return value == 1 ? "signed char" : "unsigned char";
    case 6:
      return value == 1 ? "IEEE 754" : "no IEEE 754";
    case 48:
      if (value == 0) return "no Boost archives";
      break;
    default:
      break;
  }
  return p.before + std::to_string(value) + p.after;
}

}  // namespace

unsigned note_archives(unsigned version) noexcept {
  archives = version;
  return version;
}

std::uint64_t this_machine() noexcept {
  static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);
  std::array<std::uint64_t, properties.size()> const values = {
      1,
      std::endian::native == std::endian::big ? 1U : 0U,
      std::numeric_limits<char>::is_signed ? 1U : 0U,
      std::numeric_limits<double>::is_iec559 ? 1U : 0U,
      sizeof(int),
      sizeof(long),
      sizeof(void*),
      sizeof(wchar_t),
      sizeof(long double),
      LDBL_MANT_DIG,
      offsetof(in_struct<double>, value),
      offsetof(in_struct<long long>, value),
      archives & 0xffffU};
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) all |= values[i] << properties[i].at;
  return all;
}

machine_difference difference(std::uint64_t found, std::uint64_t expected) {
  if (found == 0) return {"no record of it", "one"};
  machine_difference d;
  auto const add = [](std::string& to, std::string const& more) { to += (to.empty() ? "" : ", ") + more; };
  for (auto const& p : properties) {
    auto const a = value_of(p, found), b = value_of(p, expected);
    if (a == b) continue;
    add(d.found, in_words(p, a));
    add(d.expected, in_words(p, b));
  }
  return d;
}

}  // namespace skel::storage
