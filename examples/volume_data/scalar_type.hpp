// The number formats in which volumes are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace volume_data {

enum class scalar_type : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

[[nodiscard]] std::size_t size_of(scalar_type type);  ///< bytes
[[nodiscard]] std::string_view name_of(scalar_type type);
/// Parses int8 ... float64. Throws usage_error `place: unknown type "x"; known: ...`.
[[nodiscard]] scalar_type type_named(std::string_view name, std::string_view place);

/// Calls f with a value of the type: with_type(t, [](auto zero) { using number = decltype(zero); ... }).
template <class F>
decltype(auto) with_type(scalar_type type, F&& f) {
  switch (type) {
    case scalar_type::int8:
      return f(std::int8_t{});
    case scalar_type::uint8:
      return f(std::uint8_t{});
    case scalar_type::int16:
      return f(std::int16_t{});
    case scalar_type::uint16:
      return f(std::uint16_t{});
    case scalar_type::int32:
      return f(std::int32_t{});
    case scalar_type::uint32:
      return f(std::uint32_t{});
    case scalar_type::int64:
      return f(std::int64_t{});
    case scalar_type::uint64:
      return f(std::uint64_t{});
    case scalar_type::float32:
      return f(float{});
    case scalar_type::float64:
      break;
  }
  return f(double{});
}

/// Converts to.size() numbers of `type`, in the machine's byte order; rounds if `to` has less
/// precision.
void convert(scalar_type type, std::span<std::byte const> from, std::span<float> to);
void convert(scalar_type type, std::span<std::byte const> from, std::span<double> to);

/// Reverses the bytes of each number.
void reverse_each(std::span<std::byte> numbers, std::size_t width);

}  // namespace volume_data
