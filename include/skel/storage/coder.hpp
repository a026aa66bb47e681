// A code at work on shards in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "skel/storage/kernel.hpp"

namespace skel::storage {

/// Shards are pieces of equal size, numbered data first. Not for several threads at once: it remembers how to
/// recover from the losses it has seen.
///
///     skel::storage::coder c(skel::storage::code("ida:8,2"));
///     c.encode(data, parity, size);                        // pointers to 8 and 2 pieces
///     present[3] = present[9] = false;
///     c.rebuild(shards, present, size);                    // pointers to all 10: writes those that are not
///     present
class coder {
 public:
  explicit coder(storage::code which, kernel with = default_kernel());
  coder(coder&&) noexcept;
  coder& operator=(coder&&) noexcept;
  ~coder();

  [[nodiscard]] storage::code const& which() const noexcept { return code_; }

  /// Writes the parity shards.
  void encode(std::span<std::byte const* const> data, std::span<std::byte* const> parity,
              std::size_t size) const;

  /// Writes the shards that are not present; those with a null pointer are left out. False where fewer than m
  /// are present: then nothing was written.
  [[nodiscard]] bool rebuild(std::span<std::byte* const> shards, std::vector<bool> const& present,
                             std::size_t size);

  /// Brings the parity up to date when `size` bytes of data shard `shard` change from `before` to `after`;
  /// `parity` points to the same place in each parity shard. Costs as much as encoding one data shard.
  void update(std::size_t shard, std::byte const* before, std::byte const* after,
              std::span<std::byte* const> parity, std::size_t size) const;

 private:
  struct maps;

  storage::code code_;
  kernel kernel_;
  std::unique_ptr<maps> maps_;
};

}  // namespace skel::storage
