// XXH3 (64 bits) of a result's bytes: the report's `result_xxh3`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace skel::observe {

/// The hash of `bytes` as 16 hexadecimal digits, most significant first, as `xxhsum -H3` prints it.
std::string xxh3_hex(std::span<std::byte const> bytes);

/// The same hash of bytes that come in pieces; how they were cut does not matter.
///
///     skel::observe::xxh3_hasher hasher;
///     for (auto const& row : rows) hasher.update(std::as_bytes(std::span(row)));
///     std::string const hash = hasher.hex();
class xxh3_hasher {
 public:
  xxh3_hasher();
  ~xxh3_hasher();
  xxh3_hasher(xxh3_hasher&&) noexcept;
  xxh3_hasher& operator=(xxh3_hasher&&) noexcept;

  void update(std::span<std::byte const> bytes);
  /// Of what was given so far; more may follow.
  [[nodiscard]] std::uint64_t value() const;
  [[nodiscard]] std::string hex() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace skel::observe
