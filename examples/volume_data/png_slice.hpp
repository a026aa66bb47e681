// Reads a grey picture as numbers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "byte_source.hpp"
#include "scalar_type.hpp"

namespace volume_data {

/// A PNG file of which the header has been read. Every error is a usage_error `path: at byte N: ...`.
class png_slice {
 public:
  explicit png_slice(std::string const& path);
  ~png_slice();
  png_slice(png_slice const&) = delete;
  png_slice& operator=(png_slice const&) = delete;

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  /// uint16 for pictures of 16 bits, uint8 for those of 1 to 8.
  [[nodiscard]] scalar_type type() const;
  /// Upper bound on the bytes of pixels in the file, independent of its header.
  [[nodiscard]] std::uint64_t most() const;
  [[noreturn]] void fail(std::string const& text) const;

  /// Reads all pixels in the machine's byte order; `to` must have exactly their size. May be called
  /// once. Also checks the data behind them.
  void read(std::span<std::byte> to);

 private:
  struct decoder;
  std::unique_ptr<decoder> decoder_;
};

}  // namespace volume_data
