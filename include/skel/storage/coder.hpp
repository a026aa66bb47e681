// Encodes and rebuilds shards in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"
#include "skel/storage/kernel.hpp"

namespace skel::storage {

/// Applies a code to shards, which are pieces of equal size, numbered with the data shards first.
/// Not thread-safe: it caches how to recover from the losses it has seen.
///
///     skel::storage::coder c(skel::storage::code("ida:8,2"));
///     c.encode(data, parity, size);                        // pointers to 8 and 2 pieces
///     present[3] = present[9] = false;
///     c.rebuild(shards, present, size);                    // pointers to all 10; writes shards 3 and 9
class coder {
 public:
  /// A coder for the code `which`. All kernels give the same bytes.
  explicit coder(storage::code which, kernel with = default_kernel());
  coder(coder&&) noexcept;
  coder& operator=(coder&&) noexcept;
  ~coder();

  /// The code.
  [[nodiscard]] storage::code const& which() const noexcept { return code_; }

  /// Computes the parity shards from the data shards, `size` bytes each.
  void encode(std::span<std::byte const* const> data, std::span<std::byte* const> parity,
              std::size_t size) const;

  /// Writes the shards that are not present, except those with a null pointer. Returns false, and
  /// writes nothing, if fewer than m are present.
  [[nodiscard]] bool rebuild(std::span<std::byte* const> shards, std::vector<bool> const& present,
                             std::size_t size);

  /// Updates the parity when `size` bytes of data shard `shard` change from `before` to `after`.
  /// `parity` points to the same place in each parity shard. Costs as much as encoding one data
  /// shard.
  void update(std::size_t shard, std::byte const* before, std::byte const* after,
              std::span<std::byte* const> parity, std::size_t size) const;

 private:
  struct maps;

  storage::code code_;
  kernel kernel_;
  std::unique_ptr<maps> maps_;
};

}  // namespace skel::storage
