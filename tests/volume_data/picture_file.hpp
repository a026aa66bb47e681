// Writes PNG files (ISO/IEC 15948) independently of the reader: chunks, checksums and filter 0.
#pragma once

#include "files.hpp"

namespace test {

inline std::string png_chunk(std::string const& type, std::string const& data) {
  auto const checked = type + data;
  auto const sum =
      crc32(0, reinterpret_cast<Bytef const*>(checked.data()), static_cast<uInt>(checked.size()));
  return count(data.size(), 4, true) + checked + count(sum, 4, true);
}

/// A PNG of one colour type (0: grey, 2: RGB), interlaced (1) or not; `rows` of all passes, without
/// filter bytes.
inline std::string png_of_rows(std::size_t width, std::size_t height, unsigned bits, unsigned colour,
                               unsigned interlaced, std::vector<std::string> const& rows) {
  std::string filtered;
  for (auto const& row : rows) filtered += '\0' + row;
  auto const header = count(width, 4, true) + count(height, 4, true) + static_cast<char>(bits) +
                      static_cast<char>(colour) + '\0' + '\0' + static_cast<char>(interlaced);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", zlib(filtered)) +
         png_chunk("IEND", "");
}

/// Grey pixels in PNG's encoding: 16 bits big endian, rows padded to whole bytes.
inline std::string png(std::size_t width, std::size_t height, unsigned bits, std::string const& pixels) {
  auto const row = (width * bits + 7) / 8;
  std::vector<std::string> rows;
  for (std::size_t y = 0; y < height; ++y) rows.push_back(pixels.substr(y * row, row));
  return png_of_rows(width, height, bits, 0, 0, rows);
}

}  // namespace test
