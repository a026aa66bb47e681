// Shared by fuzz targets: the input, and the acceptance of skel's errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "skel/error.hpp"

namespace fuzz {

struct input {
  std::uint8_t const* data;
  std::size_t size;
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<char const*>(data), size}; }
  [[nodiscard]] std::span<std::byte const> bytes() const {
    return {reinterpret_cast<std::byte const*>(data), size};
  }
};

template <class F>
void expect_error_or_result(F const& parse) {
  try {
    parse();
  } catch (skel::error const&) {
  }
}

}  // namespace fuzz
