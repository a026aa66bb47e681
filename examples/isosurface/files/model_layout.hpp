// The layout shared by writer and reader of models; model_file.hpp describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace isosurface {

struct model_head {
  std::array<char, 8> magic{'S', 'K', 'E', 'L', 'M', 'O', 'D', 'L'};
  std::uint32_t mark = 0x01020304, version = 1, order = 0, numbers_per_node = 0;
  std::array<std::uint64_t, 3> nodes{};
};
static_assert(sizeof(model_head) == 48);

[[nodiscard]] std::uint64_t slice_hash(std::uint64_t number, std::span<double const> data);

}  // namespace isosurface
