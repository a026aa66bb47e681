#include "memory_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "skel/error.hpp"

namespace volume_data {

namespace {

class memory_volume final : public volume_reader {
 public:
  memory_volume(volume_header header, std::span<float const> values)
      : volume_reader(std::move(header)), values_(std::as_bytes(values)) {}
  [[nodiscard]] bool skips_freely() const override { return true; }
  [[nodiscard]] bool reads_rows_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override { fill_rows(0, next); }
  void fill_rows(std::size_t first, std::span<std::byte> rows) override {
    std::memcpy(rows.data(),
                values_.data() + position() * header().slice_bytes() + first * header().row_bytes(),
                rows.size());
  }
  void pass(std::size_t) override {}

  std::span<std::byte const> values_;
};

std::vector<double> coordinates_of(grid_values const& grid, std::size_t axis) {
  auto at = grid.coordinates[axis];
  auto const n = grid.size[axis];
  if (at.empty()) {
    at.resize(n);
    std::iota(at.begin(), at.end(), 0.0);
  }
  if (at.size() != n)
    throw skel::usage_error(
        fmt::format("grid_values: {} coordinates, expected {} as the size says", at.size(), n));
  if (!std::ranges::all_of(at, [](double x) { return std::isfinite(x); }) ||
      std::ranges::adjacent_find(at, std::greater_equal{}) != at.end())
    throw skel::usage_error("grid_values: expected finite, increasing coordinates");
  return at;
}

}  // namespace

std::unique_ptr<volume_reader> open_values(grid_values const& grid) {
  auto rest = grid.values.size();
  for (auto const n : grid.size) {
    if (n == 0) throw skel::usage_error("grid_values: expected sizes of at least 1");
    rest = rest % n == 0 ? rest / n : 0;
  }
  if (rest != 1)
    throw skel::usage_error(fmt::format("grid_values: {} values do not fill {} x {} x {} points",
                                        grid.values.size(), grid.size[0], grid.size[1], grid.size[2]));
  volume_header header;
  header.name = "grid_values";
  header.type = scalar_type::float32;
  header.size = grid.size;
  for (std::size_t a = 0; a < 3; ++a) header.coordinates[a] = coordinates_of(grid, a);
  return std::make_unique<memory_volume>(std::move(header), grid.values);
}

}  // namespace volume_data
