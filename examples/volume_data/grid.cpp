#include "grid.hpp"

#include <algorithm>

namespace volume_data {

double grid::at(std::size_t x, std::size_t y, std::size_t z) const {
  auto const index = x + header.size[0] * (y + header.size[1] * z);
  double value = 0;
  convert(header.type, std::span(values).subspan(index * size_of(header.type), size_of(header.type)),
          std::span(&value, 1));
  return value;
}

std::vector<float> grid::floats() const {
  std::vector<float> all(header.samples());
  convert(header.type, values, std::span<float>(all));
  return all;
}

grid read_grid(volume_reader& volume) {
  grid g{volume.header(), {}};
  auto const slice = g.header.slice_bytes();
  auto const part = std::max<std::size_t>(1, (std::size_t{16} << 20) / slice);  // slices per read
  for (std::size_t z = 0; z < g.header.size[2]; z += part) {
    auto const count = std::min(part, g.header.size[2] - z);
    // The size of a compressed file's content is known only once it is unpacked: grow by doubling,
    // not by its header.
    if (g.values.capacity() < (z + count) * slice)
      g.values.reserve(std::min(g.header.bytes(), std::max(2 * g.values.capacity(), (z + count) * slice)));
    g.values.resize((z + count) * slice);
    volume.read(std::span(g.values).subspan(z * slice));
  }
  return g;
}

grid read_grid(std::string const& path) { return read_grid(*open_volume(path)); }

}  // namespace volume_data
