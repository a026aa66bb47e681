// Reads a shard's file and checks every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "skel/storage/file_system.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

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

}  // namespace skel::storage
