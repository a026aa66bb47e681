// Shards become an object again, in the memory of one stripe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "skel/storage/coder.hpp"
#include "storage/object_writer.hpp"
#include "storage/shard_reader.hpp"

namespace skel::storage {

/// Reads one object from those of its shards that there are. A bad block is an erasure of that block: what is
/// left of each stripe decides. Wrong bytes are never taken for right ones: beside the blocks' hashes there
/// is the object's.
class object_reader {
 public:
  /// Shards of one object (the same object_info, the same footer().object), each index at most once. Says
  /// nothing yet of whether they are enough. std::invalid_argument otherwise.
  explicit object_reader(std::vector<std::unique_ptr<shard_reader>> shards, kernel with = default_kernel());

  [[nodiscard]] object_info const& object() const noexcept { return object_; }

  /// The whole object, in order. skel::error where a stripe has fewer than m good blocks, or the bytes are
  /// not those that were stored.
  void read(byte_sink const& to);
  /// Whole new shards, for all non-empty sinks (one for each shard of the code); likewise.
  void rebuild(std::vector<byte_sink> const& to, count_bytes const& progress = {});
  /// Reads every block of every shard, and computes the parity again: whole[i] says whether shard i is there
  /// and without fault. Throws where the object cannot be read.
  [[nodiscard]] std::vector<bool> verify(count_bytes const& progress = {});

 private:
  enum class depth : std::uint8_t { data, data_and_parity, everything };
  struct piece {
    std::unique_ptr<shard_reader> from;
    hash128 header{};
    stripe_buffer block;
    bool present = false;  // in this stripe
    bool wrong = false;    // contradicts the others, though its hashes are right
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
