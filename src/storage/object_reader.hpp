// Restores an object from its shards, in the memory of one stripe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "skel/storage/coder.hpp"
#include "storage/object_writer.hpp"
#include "storage/shard_reader.hpp"

namespace skel::storage {

/// Reads one object from its available shards. A bad block is an erasure of that block only, so
/// each stripe is decided by itself. The object's hash is checked in addition to the blocks'
/// hashes, so wrong bytes are never accepted.
class object_reader {
 public:
  /// Takes shards of one object (the same object_info and footer().object), each index at most
  /// once; otherwise throws std::invalid_argument. Does not check that they suffice.
  explicit object_reader(std::vector<std::unique_ptr<shard_reader>> shards, kernel with = default_kernel());

  [[nodiscard]] object_info const& object() const noexcept { return object_; }
  /// Whether one of the shards is suspect(). Its blocks are used only where the others do not
  /// suffice.
  [[nodiscard]] bool has_suspect() const;

  /// Reads the whole object in order. Throws skel::error if a stripe has fewer than m good blocks,
  /// or if the bytes are not the stored ones.
  void read(byte_sink const& to);
  /// Writes whole new shards to all non-empty sinks, one sink per shard of the code. Throws as
  /// read().
  void rebuild(std::vector<byte_sink> const& to);
  /// Reads every block of every shard and recomputes the parity. whole[i] says whether shard i is
  /// present and undamaged. Throws if the object cannot be read.
  [[nodiscard]] std::vector<bool> verify(count_bytes const& progress = {});

 private:
  enum class depth : std::uint8_t { data, data_and_parity, everything };
  struct piece {
    std::unique_ptr<shard_reader> from;
    hash128 header{};
    stripe_buffer block;
    bool present = false;  // read in this stripe
    bool wrong = false;    // contradicts the others although its hashes match
    hash128 hash{};
  };
  template <class Use>
  void walk(depth how_deep, Use const& use);
  void read_stripe(std::uint64_t stripe, depth how_deep);
  void compare_parity(std::size_t size);
  [[nodiscard]] std::byte* block_of(std::size_t shard);

  object_info object_;
  coder coder_;
  std::vector<piece> pieces_;
  hash128 expected_{};
  block_hasher hasher_;
};

}  // namespace skel::storage
