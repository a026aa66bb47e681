#include "slabs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "skel/error.hpp"

namespace volume {

std::vector<slab> cut_into_slabs(std::size_t layers, std::size_t count) {
  std::vector<slab> all;
  count = std::clamp<std::size_t>(count, 1, layers);
  for (std::size_t i = 0; i < count; ++i) all.push_back({layers * i / count, layers * (i + 1) / count});
  return all;
}

std::size_t slab_memory(volume_data::volume_header const& header, std::size_t layers, bool lit) {
  auto const planes = std::min(layers + 3, header.size[2]);
  // A value, its missing flag, its cell's kind, and four floats of gradient; one bit for the
  // visibility of its cell.
  auto const of_a_point = size_of(header.type) + sizeof(float) + 2 + (lit ? 4 * sizeof(float) : 0);
  return planes * header.slice_samples() * of_a_point + planes * header.slice_samples() / 8;
}

std::size_t slabs_for_memory(volume_data::volume_header const& header, std::size_t bytes, bool lit) {
  auto const layers = header.size[2] - 1;
  if (slab_memory(header, layers, lit) <= bytes) return 1;
  for (std::size_t count = 2; count <= layers; ++count)
    if (2 * slab_memory(header, (layers + count - 1) / count, lit) <= bytes) return count;
  throw skel::usage_error(fmt::format("{}: two layers of cells need {} bytes of memory, found {}",
                                      header.name, 2 * slab_memory(header, 1, lit), bytes));
}

std::vector<std::size_t> front_to_back(std::vector<slab> const& slabs, std::vector<double> const& planes,
                                       camera const& view) {
  auto const ray = view.through(0, 0);
  std::size_t begin = 0;
  if (view.parallel)
    begin = ray.direction[2] >= 0 ? 0 : slabs.size() - 1;
  else
    while (begin + 1 < slabs.size() && planes[slabs[begin].end] < ray.from[2]) ++begin;
  std::vector<std::size_t> order;
  for (auto s = begin; s < slabs.size(); ++s) order.push_back(s);
  for (auto s = begin; s-- > 0;) order.push_back(s);
  return order;
}

}  // namespace volume
