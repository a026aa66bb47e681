// A shard's file, every block of it checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skel/storage/file_system.hpp"
#include "storage/shard_format.hpp"

namespace skel::storage {

class shard_reader {
 public:
  /// Reads header and footer. skel::error `path: …` where it is no shard, damaged there, or not as long as it
  /// should be.
  shard_reader(file_system& files, std::string path, report_problem report);

  shard_reader(shard_reader const&) = delete;
  shard_reader& operator=(shard_reader const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] shard_header const& header() const noexcept { return header_; }
  [[nodiscard]] shard_footer const& footer() const noexcept { return footer_; }
  [[nodiscard]] hash128 const& header_hash() const noexcept { return header_hash_; }

  /// The block of a stripe, to `to`, which has room for it and a hash behind it. False where the hash does
  /// not match or reading fails: then `to` holds anything, the loss was reported, and the block is to be
  /// taken for lost.
  [[nodiscard]] bool read_block(std::uint64_t stripe, std::byte* to);
  /// Of the last block that was read and good.
  [[nodiscard]] hash128 const& block_hash() const noexcept { return block_hash_; }
  /// After all blocks were read in order: whether they are what the footer says. Reports where not.
  [[nodiscard]] bool finish();

  void report(std::string const& what) const;
  [[nodiscard]] std::uint64_t bad_blocks() const noexcept { return bad_blocks_; }

 private:
  void report_block(std::uint64_t stripe, std::string const& what);

  std::string path_;
  report_problem report_;
  std::unique_ptr<file> file_;
  shard_header header_;
  shard_footer footer_{};
  shard_layout layout_;
  hash128 header_hash_{}, block_hash_{};
  block_hasher hasher_;
  skel::xxh3_128_hasher hashes_;
  std::uint64_t next_ = 0;  // stripe in order; past the end where one was left out
  std::uint64_t bad_blocks_ = 0;
};

}  // namespace skel::storage
