// One grey picture, read as numbers.
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
  /// No more bytes of pixels than these can be in the file, whatever its header says.
  [[nodiscard]] std::uint64_t most() const;
  [[noreturn]] void fail(std::string const& text) const;

  /// All pixels, of which there are as many as `to` has room for, in the machine's byte order. Once. Also
  /// checks what comes behind them.
  void read(std::span<std::byte> to);

 private:
  struct decoder;
  std::unique_ptr<decoder> decoder_;
};

}  // namespace volume_data
