#include "skel/storage/generation.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "base/format.hpp"
#include "skel/hash.hpp"

namespace skel::storage {

std::uint64_t identity::hash() const {
  skel::xxh3_hasher h;
  auto const number = [&](std::uint64_t n) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      auto const b = static_cast<std::byte>(n >> shift);
      h.update({&b, 1});
    }
  };
  for (std::string_view const text : {std::string_view(program), std::string_view(version)}) {
    number(text.size());
    h.update(std::as_bytes(std::span(text)));
  }
  number(problem);
  return h.value();
}

char const* to_string(condition c) noexcept {
  switch (c) {
    case condition::whole:
      return "whole";
    case condition::degraded:
      return "degraded";
    case condition::lost:
      break;
  }
  return "lost";
}

std::string stored_generation::id() const { return detail::format("{:016x}", plan.stamp); }

std::vector<stored_generation> rivals_of(stored_generation const& g,
                                         std::vector<stored_generation> const& all) {
  std::vector<stored_generation> rivals;
  if (g.state() == condition::lost) return rivals;
  std::ranges::copy_if(all, std::back_inserter(rivals), [&](auto const& other) {
    return other.plan != g.plan && other.plan.generation == g.plan.generation &&
           other.identity_hash == g.identity_hash && other.state() != condition::lost;
  });
  return rivals;
}

condition stored_generation::state() const {
  if (plan.base == 0) return own_state();
  return base ? std::max(own_state(), base->state()) : condition::lost;
}

condition stored_generation::own_state() const {
  if (parts.size() != plan.parts) return condition::lost;
  auto result = condition::whole;
  for (auto const& [number, part] : parts) {
    if (!part.enough()) return condition::lost;
    if (part.shards.size() - part.damaged != part.object.code.shards()) result = condition::degraded;
  }
  return result;
}

}  // namespace skel::storage
