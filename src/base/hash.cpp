#include "skel/hash.hpp"

// Compiled in, so that users of an installed skel need no xxHash library.
#define XXH_INLINE_ALL
#ifndef NDEBUG
#define XXH_NO_INLINE_HINTS 1  // at -Og gcc would fail to inline functions marked always_inline
#endif
#include <xxhash.h>

#include <cstring>

#include "base/format.hpp"

namespace skel {

// XXH3's state is aligned to 64 bytes; operator new respects that.
struct xxh3_hasher::state {
  XXH3_state_t value;
};

std::string xxh3_hex(std::span<std::byte const> bytes) {
  return detail::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::uint64_t detail::hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

xxh3_hasher::xxh3_hasher() : state_(std::make_unique<state>()) { XXH3_64bits_reset(&state_->value); }
xxh3_hasher::~xxh3_hasher() = default;
xxh3_hasher::xxh3_hasher(xxh3_hasher&&) noexcept = default;
xxh3_hasher& xxh3_hasher::operator=(xxh3_hasher&&) noexcept = default;

void xxh3_hasher::update(std::span<std::byte const> bytes) {
  XXH3_64bits_update(&state_->value, bytes.data(), bytes.size());
}

std::uint64_t xxh3_hasher::value() const { return XXH3_64bits_digest(&state_->value); }
std::string xxh3_hasher::hex() const { return detail::format("{:016x}", value()); }

struct xxh3_128_hasher::state {
  XXH3_state_t value;
};

xxh3_128_hasher::xxh3_128_hasher() : state_(std::make_unique<state>()) { reset(); }
xxh3_128_hasher::~xxh3_128_hasher() = default;
xxh3_128_hasher::xxh3_128_hasher(xxh3_128_hasher&&) noexcept = default;
xxh3_128_hasher& xxh3_128_hasher::operator=(xxh3_128_hasher&&) noexcept = default;

void xxh3_128_hasher::reset() { XXH3_128bits_reset(&state_->value); }

void xxh3_128_hasher::update(std::span<std::byte const> bytes) {
  XXH3_128bits_update(&state_->value, bytes.data(), bytes.size());
}

hash128 xxh3_128_hasher::value() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->value));
  hash128 bytes;
  std::memcpy(bytes.data(), canonical.digest, bytes.size());
  return bytes;
}

}  // namespace skel
