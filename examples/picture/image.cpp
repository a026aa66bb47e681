#include "image.hpp"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "skel/error.hpp"
#include "skel/observe/atomic_file.hpp"

namespace skel::picture {

namespace {

std::vector<std::uint8_t> eight_bits(image const& picture) {
  std::vector<std::uint8_t> out;
  out.reserve(picture.rgb.size());
  for (float const v : picture.rgb) {
    // NaN compares false and becomes 0
    float const clipped = v > 0 ? std::min(v, 1.0F) : 0.0F;
    out.push_back(static_cast<std::uint8_t>(std::lround(clipped * 255)));
  }
  return out;
}

void append(std::vector<std::byte>& out, void const* data, std::size_t size) {
  auto const* const bytes = static_cast<std::byte const*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

void append(std::vector<std::byte>& out, std::string_view text) { append(out, text.data(), text.size()); }

std::string size_line(image const& picture) {
  return std::to_string(picture.width) + ' ' + std::to_string(picture.height) + '\n';
}

}  // namespace

std::vector<std::byte> encode_ppm(image const& picture) {
  std::vector<std::byte> out;
  append(out, "P6\n" + size_line(picture) + "255\n");
  auto const pixels = eight_bits(picture);
  append(out, pixels.data(), pixels.size());
  return out;
}

std::vector<std::byte> encode_pfm(image const& picture) {
  std::vector<std::byte> out;
  append(out, "PF\n" + size_line(picture) + "-1.0\n");  // a negative scale: little endian
  auto const row = 3 * static_cast<std::size_t>(picture.width);
  for (auto y = static_cast<std::size_t>(picture.height); y-- > 0;) {
    for (std::size_t i = 0; i < row; ++i) {
      auto bits = std::bit_cast<std::uint32_t>(picture.rgb[y * row + i]);
      for (int b = 0; b < 4; ++b, bits >>= 8) out.push_back(static_cast<std::byte>(bits & 255));
    }
  }
  return out;
}

std::vector<std::byte> encode_png(image const& picture) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(picture.width);
  header.height = static_cast<png_uint_32>(picture.height);
  header.format = PNG_FORMAT_RGB;
  auto const pixels = eight_bits(picture);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<std::byte> out(size);
  if (png_image_write_to_memory(&header, out.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw error(std::string("png: ") + header.message);
  }
  out.resize(size);
  return out;
}

void check_image_name(std::string const& path) {
  if (path.ends_with(".png") || path.ends_with(".ppm") || path.ends_with(".pfm")) return;
  throw usage_error(path + ": an image needs a name that ends in .png, .ppm or .pfm");
}

std::vector<std::byte> encode_image(std::string const& path, image const& picture) {
  check_image_name(path);
  if (path.ends_with(".png")) return encode_png(picture);
  return path.ends_with(".ppm") ? encode_ppm(picture) : encode_pfm(picture);
}

void write_image(std::string const& path, image const& picture) {
  auto const bytes = encode_image(path, picture);
  observe::atomic_file file(path);
  file.write(std::span<std::byte const>(bytes));
  file.commit();
}

}  // namespace skel::picture
