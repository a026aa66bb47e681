#include "skel/storage/coder.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace skel::storage {

coder::coder(storage::code which, kernel with) : code_(which), kernel_(with), encoder_(code_.encoder()) {}

void coder::encode(std::span<std::byte const* const> data, std::span<std::byte* const> parity,
                   std::size_t size) const {
  encoder_.apply(data, parity, size, kernel_);
}

coder::plan const& coder::plan_for(losses what) {
  if (auto const known = plans_.find(what); known != plans_.end()) return known->second;
  constexpr std::size_t most_remembered = 64;  // bad blocks at random may make a new pattern in each stripe
  if (plans_.size() == most_remembered) plans_.clear();
  std::vector<std::size_t> sources, outputs;
  for (std::size_t i = 0; i < code_.shards(); ++i) {
    if (what.present[i] && sources.size() < code_.data_shards()) sources.push_back(i);
    if (what.wanted[i]) outputs.push_back(i);
  }
  auto map = code_.recovery(sources, outputs);
  return plans_.emplace(std::move(what), plan{std::move(sources), std::move(outputs), std::move(map)})
      .first->second;
}

bool coder::rebuild(std::span<std::byte* const> shards, std::vector<bool> const& present, std::size_t size) {
  if (shards.size() != code_.shards() || present.size() != code_.shards())
    throw std::invalid_argument("coder: a pointer and a presence for each shard");
  auto const there = static_cast<std::size_t>(std::ranges::count(present, true));
  if (there < code_.data_shards()) return false;
  losses what{present, std::vector<bool>(present.size())};
  bool any = false;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (!present[i] && shards[i] != nullptr) what.wanted[i] = any = true;
  if (!any) return true;
  auto const& p = plan_for(std::move(what));
  std::vector<std::byte const*> sources;
  std::vector<std::byte*> outputs;
  sources.reserve(p.sources.size());
  outputs.reserve(p.outputs.size());
  for (auto const i : p.sources) sources.push_back(shards[i]);
  for (auto const i : p.outputs) outputs.push_back(shards[i]);
  p.map.apply(sources, outputs, size, kernel_);
  return true;
}

void coder::update(std::size_t shard, std::byte const* before, std::byte const* after,
                   std::span<std::byte* const> parity, std::size_t size) const {
  constexpr std::size_t strip = 4096;
  std::array<std::byte, strip> difference;
  std::vector<std::byte*> outputs(parity.begin(), parity.end());
  for (std::size_t at = 0; at < size; at += strip) {
    auto const part = std::min(strip, size - at);
    for (std::size_t i = 0; i < part; ++i) difference[i] = before[at + i] ^ after[at + i];
    encoder_.add_column(shard, difference.data(), outputs, part, kernel_);
    for (auto& output : outputs) output += part;
  }
}

}  // namespace skel::storage
