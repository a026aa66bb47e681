#include "skel/storage/coder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "storage/linear_map.hpp"

namespace skel::storage {

// The matrices of a code, compiled for the kernel: for encoding, and for recovery from the losses
// seen so far.
struct coder::maps {
  struct losses {
    std::vector<bool> present, wanted;
    friend auto operator<=>(losses const&, losses const&) = default;
  };
  struct plan {
    std::vector<std::size_t> sources, outputs;
    linear_map map;
  };

  explicit maps(storage::code const& which) : encode(encoder(which)) {}

  plan const& plan_for(storage::code const& c, losses what) {
    if (auto const known = plans.find(what); known != plans.end()) return known->second;
    constexpr std::size_t most_remembered = 64;  // random bad blocks may form a new pattern in each stripe
    if (plans.size() == most_remembered) plans.clear();
    std::vector<std::size_t> sources, outputs;
    for (std::size_t i = 0; i < c.shards(); ++i) {
      if (what.present[i] && sources.size() < c.data_shards()) sources.push_back(i);
      if (what.wanted[i]) outputs.push_back(i);
    }
    auto map = recovery(c, sources, outputs);
    return plans.emplace(std::move(what), plan{std::move(sources), std::move(outputs), std::move(map)})
        .first->second;
  }

  linear_map encode;
  std::map<losses, plan> plans;
};

coder::coder(storage::code which, kernel with)
    : code_(which), kernel_(with), maps_(std::make_unique<maps>(which)) {}
coder::coder(coder&&) noexcept = default;
coder& coder::operator=(coder&&) noexcept = default;
coder::~coder() = default;

void coder::encode(std::span<std::byte const* const> data, std::span<std::byte* const> parity,
                   std::size_t size) const {
  maps_->encode.apply(data, parity, size, kernel_);
}

bool coder::rebuild(std::span<std::byte* const> shards, std::vector<bool> const& present, std::size_t size) {
  if (shards.size() != code_.shards() || present.size() != code_.shards())
    throw std::invalid_argument("coder: expected one pointer and one presence flag per shard");
  auto const there = static_cast<std::size_t>(std::ranges::count(present, true));
  if (there < code_.data_shards()) return false;
  maps::losses what{present, std::vector<bool>(present.size())};
  bool any = false;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (!present[i] && shards[i] != nullptr) what.wanted[i] = any = true;
  if (!any) return true;
  auto const& p = maps_->plan_for(code_, std::move(what));
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
    maps_->encode.add_column(shard, difference.data(), outputs, part, kernel_);
    for (auto& output : outputs) output += part;
  }
}

}  // namespace skel::storage
