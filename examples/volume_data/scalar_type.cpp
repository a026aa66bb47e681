#include "scalar_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "skel/error.hpp"

namespace volume_data {

namespace {

constexpr std::array<std::string_view, 10> names{"int8",   "uint8", "int16",  "uint16",  "int32",
                                                 "uint32", "int64", "uint64", "float32", "float64"};

template <class To>
void convert_to(scalar_type type, std::span<std::byte const> from, std::span<To> to) {
  with_type(type, [&](auto zero) {
    using number = decltype(zero);
    for (std::size_t i = 0; i < to.size(); ++i) {
      number value{};
      std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
      to[i] = static_cast<To>(value);
    }
  });
}

}  // namespace

std::size_t size_of(scalar_type type) {
  return with_type(type, [](auto zero) { return sizeof zero; });
}

std::string_view name_of(scalar_type type) { return names[static_cast<std::size_t>(type)]; }

scalar_type type_named(std::string_view name, std::string_view place) {
  auto const at = std::ranges::find(names, name);
  if (at == names.end())
    throw skel::usage_error(
        fmt::format("{}: unknown type \"{}\"; known: {}", place, name, fmt::join(names, ", ")));
  return static_cast<scalar_type>(at - names.begin());
}

void convert(scalar_type type, std::span<std::byte const> from, std::span<float> to) {
  convert_to(type, from, to);
}

void convert(scalar_type type, std::span<std::byte const> from, std::span<double> to) {
  convert_to(type, from, to);
}

void reverse_each(std::span<std::byte> numbers, std::size_t width) {
  for (std::size_t i = 0; i + width <= numbers.size(); i += width)
    std::ranges::reverse(numbers.subspan(i, width));
}

}  // namespace volume_data
