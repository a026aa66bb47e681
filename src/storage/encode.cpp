#include "skel/storage/encode.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "skel/storage/coder.hpp"

namespace skel::storage {

namespace {

std::size_t shard_size(code const& how, std::size_t bytes) {
  auto const m = how.data_shards();
  return bytes / m + (bytes % m != 0 ? 1 : 0);
}

}  // namespace

std::vector<std::vector<std::byte>> encode(code const& how, std::span<std::byte const> buffer) {
  auto const each = shard_size(how, buffer.size());
  std::vector<std::vector<std::byte>> shards(how.shards(), std::vector<std::byte>(each));
  std::vector<std::byte const*> data;
  std::vector<std::byte*> parity;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (s >= how.data_shards()) {
      parity.push_back(shards[s].data());
      continue;
    }
    auto const rest = buffer.subspan(std::min(buffer.size(), s * each));
    std::ranges::copy(rest.first(std::min(rest.size(), each)), shards[s].begin());
    data.push_back(shards[s].data());
  }
  if (each > 0) coder(how).encode(data, parity, each);
  return shards;
}

std::vector<std::byte> decode(code const& how, std::span<std::vector<std::byte> const> shards,
                              std::size_t size) {
  if (shards.size() != how.shards())
    throw usage_error(
        detail::format("decode: {} shards, expected {}, the lost ones empty", shards.size(), how.shards()));
  auto const each = shard_size(how, size);
  std::vector<bool> present(shards.size());
  for (std::size_t s = 0; s < shards.size(); ++s) {
    present[s] = !shards[s].empty();
    if (present[s] && shards[s].size() != each)
      throw usage_error(detail::format("decode: shard {} has {} bytes, expected {} for a buffer of {}", s,
                                       shards[s].size(), each, size));
  }
  auto const m = how.data_shards();
  std::vector<std::byte> buffer(each * m);
  std::vector<std::vector<std::byte>>
      copies;  // rebuild() takes writable shards, but reads those that are present
  std::vector<std::byte*> places(shards.size(), nullptr);
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (s < m) {
      places[s] = buffer.data() + s * each;
      if (present[s]) std::ranges::copy(shards[s], places[s]);
    } else if (present[s]) {
      places[s] = copies.emplace_back(shards[s]).data();
    }
  }
  if (each > 0 && !coder(how).rebuild(places, present, each))
    throw error(detail::format("decode: {} shards are left, but {} are needed",
                               std::ranges::count(present, true), m));
  buffer.resize(size);
  return buffer;
}

}  // namespace skel::storage
