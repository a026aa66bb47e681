#include "skel/storage/coder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "storage/cauchy.hpp"
#include "storage/linear_map.hpp"
#include "storage/transform.hpp"

namespace skel::storage {

// The maps of a code: for encoding, and for recovery from the losses seen so far.
struct coder::maps {
  // By a matrix or, where that takes fewer steps, by transforms. The bytes are the same.
  class shard_map {
   public:
    explicit shard_map(cauchy_form const& form) : how_(choose(form)) {}
    void apply(std::span<std::byte const* const> sources, std::span<std::byte* const> outputs,
               std::size_t size, kernel with) const {
      std::visit([&](auto const& map) { map.apply(sources, outputs, size, with); }, how_);
    }

   private:
    using choice = std::variant<linear_map, transform>;
    static choice choose(cauchy_form const& form) {
      if (auto const log = transform::worthwhile(form)) return transform(form, *log);
      return linear_map(form.cells());
    }
    choice how_;
  };
  struct losses {
    std::vector<bool> present, wanted;
    friend auto operator<=>(losses const&, losses const&) = default;

    [[nodiscard]] bool fit(std::span<std::byte* const> shards, std::vector<bool> const& these) const {
      if (these != present) return false;
      for (std::size_t i = 0; i < shards.size(); ++i)
        if (wanted[i] != (shards[i] != nullptr && !these[i])) return false;
      return true;
    }
  };
  struct plan {
    std::vector<std::size_t> sources, outputs;
    shard_map map;
  };
  using remembered = std::map<losses, plan>;

  explicit maps(storage::code const& which) : parity(encoding_form(which)), encode(parity) {}

  // The plan for these losses. Many stripes in a row have the same, so the last one is tried first.
  plan const& plan_for(storage::code const& c, std::span<std::byte* const> shards,
                       std::vector<bool> const& present) {
    if (last != nullptr && last->first.fit(shards, present)) return last->second;
    losses what{present, std::vector<bool>(present.size())};
    for (std::size_t i = 0; i < shards.size(); ++i) what.wanted[i] = shards[i] != nullptr && !present[i];
    auto known = plans.find(what);
    if (known == plans.end()) known = make_plan(c, std::move(what));
    last = &*known;
    return last->second;
  }

  remembered::iterator make_plan(storage::code const& c, losses what) {
    constexpr std::size_t most_remembered = 64;  // random bad blocks may form a new pattern in each stripe
    if (plans.size() == most_remembered) {
      last = nullptr;
      plans.clear();
    }
    std::vector<std::size_t> sources, outputs;
    for (std::size_t i = 0; i < c.shards(); ++i) {
      if (what.present[i] && sources.size() < c.data_shards()) sources.push_back(i);
      if (what.wanted[i]) outputs.push_back(i);
    }
    shard_map map(recovery_form(c, sources, outputs));
    return plans.emplace(std::move(what), plan{std::move(sources), std::move(outputs), std::move(map)}).first;
  }

  cauchy_form parity;
  shard_map encode;
  remembered plans;
  remembered::value_type const* last = nullptr;
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
  auto const& p = maps_->plan_for(code_, shards, present);
  if (p.outputs.empty()) return true;
  std::array<std::byte const*, 256> sources;
  std::array<std::byte*, 256> outputs;
  for (std::size_t i = 0; i < p.sources.size(); ++i) sources[i] = shards[p.sources[i]];
  for (std::size_t i = 0; i < p.outputs.size(); ++i) outputs[i] = shards[p.outputs[i]];
  p.map.apply(std::span(sources).first(p.sources.size()), std::span(outputs).first(p.outputs.size()), size,
              kernel_);
  return true;
}

void coder::update(std::size_t shard, std::byte const* before, std::byte const* after,
                   std::span<std::byte* const> parity, std::size_t size) const {
  constexpr std::size_t strip = 4096;
  std::array<std::byte, strip> difference;
  linear_map const column(maps_->parity.column(shard));
  std::vector<std::byte*> outputs(parity.begin(), parity.end());
  for (std::size_t at = 0; at < size; at += strip) {
    auto const part = std::min(strip, size - at);
    for (std::size_t i = 0; i < part; ++i) difference[i] = before[at + i] ^ after[at + i];
    column.add_column(0, difference.data(), outputs, part, kernel_);
    for (auto& output : outputs) output += part;
  }
}

}  // namespace skel::storage
