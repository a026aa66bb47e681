#include "fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "skel/hash.hpp"

namespace volume_data {

namespace {

void add_header(skel::xxh3_hasher& hasher, volume_header const& header) {
  auto const text =
      fmt::format("{} {} {} {}", name_of(header.type), header.size[0], header.size[1], header.size[2]);
  hasher.update(std::as_bytes(std::span(text)));
  for (auto const& axis : header.coordinates) hasher.update(std::as_bytes(std::span(axis)));
}

}  // namespace

std::string fingerprint(grid const& g) {
  skel::xxh3_hasher hasher;
  add_header(hasher, g.header);
  hasher.update(g.values);
  return hasher.hex();
}

std::string fingerprint(volume_reader& volume) {
  constexpr std::size_t budget = std::size_t{64} << 20;  // bytes of values: a few hundredths of a second
  auto const& header = volume.header();
  skel::xxh3_hasher hasher;
  add_header(hasher, header);
  std::vector<std::byte> slice(header.slice_bytes());
  auto const slices = header.size[2];
  auto const counted = std::clamp<std::size_t>(budget / slice.size(), 1, slices);
  for (std::size_t i = 0; i < counted; ++i) {
    // The last slice of each stretch, since the first slices of a scan are often empty.
    if (volume.skips_freely()) volume.skip((i + 1) * slices / counted - 1 - volume.position());
    volume.read(std::span(slice));
    hasher.update(slice);
  }
  return hasher.hex();
}

}  // namespace volume_data
