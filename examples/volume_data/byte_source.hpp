// Bytes of files, as they lie there or decoded on the way.
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
  /// No more bytes than these can still come, whatever they are: what may be allocated for them.
  [[nodiscard]] virtual std::uint64_t most() const = 0;
  /// Whether exactly most() bytes come, unless the file ends too early.
  [[nodiscard]] virtual bool counted() const { return false; }
  /// `path: at byte N`
  [[nodiscard]] virtual std::string place() const = 0;

  /// Fills `to`, or usage_error.
  void require(std::span<std::byte> to);
  /// Whether skip() costs nothing.
  [[nodiscard]] virtual bool skips_freely() const { return false; }
  /// Skips this many bytes, without reading them if the file allows it. Throws usage_error if there
  /// are fewer.
  virtual void skip(std::uint64_t bytes);
  /// Reads what stands behind the last byte, such as a checksum; usage_error if it is wrong, or more bytes
  /// follow.
  virtual void expect_end();
  [[noreturn]] void fail(std::string const& text) const;

 protected:
  [[noreturn]] void ends_too_early(std::uint64_t missing) const;
  [[noreturn]] void goes_on() const;
};

using source = std::unique_ptr<byte_source>;

/// `length` bytes of a file from `offset`, or what is there of them.
[[nodiscard]] source file_bytes(std::string const& path, std::uint64_t offset = 0,
                                std::uint64_t length = UINT64_MAX);
/// The content of a gzip or zlib stream (several gzip members: one after the other).
[[nodiscard]] source inflated(source from);
/// The bytes that base64 text stands for. Skips white space; several texts may follow each other,
/// as in VTK files.
[[nodiscard]] source from_base64(source from);
/// Numbers in text, as bytes in the machine's order.
[[nodiscard]] source from_text(source from, scalar_type type);

/// The length of a file; usage_error `path: reason`.
[[nodiscard]] std::uint64_t file_length(std::string const& path);
/// A text that must be short, such as a detached header, whole.
[[nodiscard]] std::string read_text(std::string const& path, std::size_t most);
/// A file named in the header of another: relative names are relative to that file's folder.
[[nodiscard]] std::string beside(std::string const& header, std::string const& name);

}  // namespace volume_data
