// Reads shards' files, and restores an object from them in the memory of one stripe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "skel/storage/coder.hpp"
#include "skel/storage/file_system.hpp"
#include "storage/object_writer.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

/// Reads a shard's file and checks every block.
class shard_reader {
 public:
  /// Reads header and footer. Throws skel::error `path: …` if the file is not a shard or if its header
  /// is damaged. A damaged footer and a wrong length are a defect(): blocks whose hashes match can
  /// be used.
  shard_reader(file_system& files, std::string path, report_problem report);

  shard_reader(shard_reader const&) = delete;
  shard_reader& operator=(shard_reader const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] shard_header const& header() const noexcept { return header_; }
  /// Zeros unless has_footer().
  [[nodiscard]] shard_footer const& footer() const noexcept { return footer_; }
  [[nodiscard]] bool has_footer() const noexcept { return has_footer_; }
  /// Describes the damage of the footer or the length; empty if there is none.
  [[nodiscard]] std::string const& defect() const noexcept { return defect_; }
  /// Takes the hash of the object from other shards, for a shard without a footer.
  void belongs_to(hash128 const& object) { footer_.object = object; }

  /// Reads the block of a stripe into `to`, which must have room for the block and its hash.
  /// Returns false if the hash does not match or reading fails. The loss is then reported, the
  /// contents of `to` are unspecified, and the block counts as lost.
  [[nodiscard]] bool read_block(std::uint64_t stripe, std::byte* to);
  /// The hash of the last good block.
  [[nodiscard]] hash128 const& block_hash() const noexcept { return block_hash_; }
  /// Call after all blocks were read in order. Returns whether they match the footer and there is no
  /// defect(); reports a mismatch.
  [[nodiscard]] bool finish();

  /// Compares the hashes that stand behind the blocks with the footer. Blocks of another object with
  /// the same header have good hashes, but not the ones that the footer covers.
  void check_hashes();
  /// Whether a block with a good hash may still be one of another object: without a footer, or after
  /// a check_hashes() that failed.
  [[nodiscard]] bool suspect() const noexcept { return suspect_; }

  void report(std::string const& what) const;

 private:
  void report_block(std::uint64_t stripe, std::string const& what);
  void read_footer();

  std::string path_;
  report_problem report_;
  std::unique_ptr<file> file_;
  shard_header header_;
  shard_footer footer_{};
  shard_layout layout_;
  hash128 header_hash_{}, block_hash_{};
  block_hasher hasher_;
  skel::xxh3_128_hasher hashes_;
  std::uint64_t next_ = 0;  // next stripe in order; past the end if one was skipped
  std::uint64_t bad_blocks_ = 0;
  std::string defect_;
  bool has_footer_ = false, suspect_ = false;
};

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
