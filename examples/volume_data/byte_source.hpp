// Bytes of files, unchanged or decoded on the fly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "scalar_type.hpp"

namespace volume_data {

class byte_source {
 public:
  static constexpr std::size_t buffer_size = std::size_t{1} << 16;

  byte_source() = default;
  byte_source(byte_source const&) = delete;
  byte_source& operator=(byte_source const&) = delete;
  virtual ~byte_source() = default;

  /// Fills `to`; returns less than its size only at the end.
  virtual std::size_t read(std::span<std::byte> to) = 0;
  /// An upper bound on the remaining bytes, and thus on useful allocations.
  [[nodiscard]] virtual std::uint64_t most() const = 0;
  /// Whether exactly most() bytes remain, unless the file is truncated.
  [[nodiscard]] virtual bool counted() const { return false; }
  /// `path: at byte N`
  [[nodiscard]] virtual std::string place() const = 0;

  /// Fills `to` or throws usage_error.
  void require(std::span<std::byte> to);
  /// Whether skip() is free.
  [[nodiscard]] virtual bool skips_freely() const { return false; }
  /// Whether skip() is free wherever it begins and ends, not only for whole slices.
  [[nodiscard]] virtual bool skips_all_freely() const { return skips_freely(); }
  /// Skips this many bytes, without reading them if the file allows it. Throws usage_error if there
  /// are fewer.
  virtual void skip(std::uint64_t bytes);
  /// Reads data behind the last byte, such as a checksum. Throws usage_error if it is wrong or if
  /// more bytes follow.
  virtual void expect_end();
  [[noreturn]] void fail(std::string const& text) const;

 protected:
  [[noreturn]] void ends_too_early(std::uint64_t missing) const;
  [[noreturn]] void goes_on() const;
};

using source = std::unique_ptr<byte_source>;

/// `length` bytes of a file from `offset`, or as many as exist.
[[nodiscard]] source file_bytes(std::string const& path, std::uint64_t offset = 0,
                                std::uint64_t length = UINT64_MAX);
/// The content of a gzip or zlib stream; several gzip members are concatenated.
[[nodiscard]] source inflated(source from);
/// The bytes that base64 text stands for. Skips white space; several texts may follow each other,
/// as in VTK files.
[[nodiscard]] source from_base64(source from);
/// Numbers in text, as bytes in the machine's order.
[[nodiscard]] source from_text(source from, scalar_type type);

/// Returns the length of a file. Throws usage_error `path: reason`.
[[nodiscard]] std::uint64_t file_length(std::string const& path);
/// Reads a whole text of at most `most` bytes, such as a detached header.
[[nodiscard]] std::string read_text(std::string const& path, std::size_t most);
/// A file named in the header of another: relative names are relative to that file's folder.
[[nodiscard]] std::string beside(std::string const& header, std::string const& name);

}  // namespace volume_data
